// Prints the OpenAPI document of the HTTP interface.
import { rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
// inside the project, so that the packages it imports are found
const outfile = join(root, "node_modules", `.openapi-${process.pid}.mjs`)
await build({
  entryPoints: [join(root, "src/http/OpenApiDocument.ts")],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "warning"
})
try {
  const { openApiDocument } = await import(outfile)
  console.log(JSON.stringify(openApiDocument(), null, 2))
} finally {
  rmSync(outfile, { force: true })
}
