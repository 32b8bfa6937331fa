import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { expect, it } from "vitest"

const library = fileURLToPath(new URL("../../src/index.ts", import.meta.url))

/** Kilobytes of a minified bundle that has nothing but this export in it, with everything that it needs. */
const kilobytesOf = async (name: string): Promise<number> => {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${name} } from ${JSON.stringify(library)}`, resolveDir: "." },
    bundle: true,
    minify: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["pg-native"],
    logLevel: "error"
  })
  return (outputFiles[0]?.contents.length ?? Number.NaN) / 1_024
}

/** What an export may bring with it; the database, undici and the catalog alone are more than any of these. */
const maxKilobytes = { firstOf: 60, makeModel: 20, decodeChatRequest: 300, Caller: 60, Gateway: 750 }

it.each(Object.entries(maxKilobytes))("a program that needs only %s bundles at most %d kB", async (name, max) => {
  const size = await kilobytesOf(name)
  expect(size).toBeGreaterThan(0)
  expect(size).toBeLessThan(max)
})
