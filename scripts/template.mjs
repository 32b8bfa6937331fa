// Writes the archive that a first start of the embedded database unpacks: node scripts/template.mjs FILE
import { writeTemplate } from "../src/sql/embedded/template.js"

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error("usage: node scripts/template.mjs FILE")
  process.exit(2)
}
await writeTemplate(file)
