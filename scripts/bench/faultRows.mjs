// The fault server and the table of the suite, bundled as they are now.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")

export const loadFaults = async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-faults-"))
  const outfile = join(folder, "faults.mjs")
  await build({
    stdin: {
      contents: 'export * from "./FaultServer.ts"; export { catalogue } from "./Catalogue.ts"',
      resolveDir: join(root, "test/faults")
    },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile,
    logLevel: "warning"
  })
  const { catalogue, fullText, startFaultServer } = await import(pathToFileURL(outfile).href)
  await rm(folder, { recursive: true })
  return { startFaultServer, fullText, rows: [...catalogue.map((row) => rowOf(row, fullText)), reused(fullText)] }
}

const rowOf = ({ atOrigin, fault, name, number, plain, stream }, fullText) => ({
  number,
  name,
  fault,
  atOrigin,
  needsUsedConnection: false,
  modes: [
    { stream: true, wholes: wholesOf(stream.alone, fullText) },
    ...(plain === null ? [] : [{ stream: false, wholes: wholesOf(plain.alone, fullText) }])
  ]
})

/** Not in the table, as it takes two calls: the first makes the connection a used one. */
const reused = (fullText) => ({
  number: 5,
  name: "reset of a connection that was used before",
  fault: "reset-reused",
  atOrigin: false,
  needsUsedConnection: true,
  modes: [true, false].map((stream) => ({ stream, wholes: [fullText] }))
})

/** What the faulty provider says, where that is all that it has to say; and what the healthy one says. */
const wholesOf = (alone, fullText) => (alone.ends === "answered" ? [fullText, alone.text] : [fullText])
