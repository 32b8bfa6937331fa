// Writes into the README what each protocol takes, from the protocols' own tables. With --check only says whether it is there.
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const readme = join(root, "README.md")
const words = { native: "native", translated: "translated", dropped: "dropped with note", refused: "refused" }

const differences = (support, usual) => {
  const by = new Map()
  for (const [parameter, kind] of Object.entries(support)) {
    if (kind !== usual[parameter]) by.set(kind, [...(by.get(kind) ?? []), `\`${parameter}\``])
  }
  return [...by].map(([kind, parameters]) => `${parameters.join(", ")} ${words[kind]}`).join("; ")
}

// inside the project, so that the packages it imports are found
const outfile = join(root, "node_modules", `.support-${process.pid}.mjs`)
await build({
  stdin: {
    contents: `
      export { shapingParameters, tuningParameters } from "./src/domain/Support.ts"
      export { configured } from "./src/provider/vendors/Configured.ts"
      export { vendors } from "./src/provider/vendors/Vendors.ts"`,
    resolveDir: root
  },
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "warning"
})
try {
  const { configured, shapingParameters, tuningParameters, vendors } = await import(outfile)
  const compatible = configured({ id: "any", protocol: "openai-chat", baseUrl: "http://127.0.0.1:1" }).protocol.support
  const supportOf = (id) => vendors.find((vendor) => vendor.id === id).protocol.support
  const columns = {
    "`openai-chat`, OpenAI": supportOf("openai"),
    "`openai-chat`, other servers": compatible,
    "`anthropic-messages`": supportOf("anthropic"),
    "`gemini`": supportOf("google"),
    "`bedrock-converse`": supportOf("amazon-bedrock")
  }
  const text = [
    `| parameter | ${Object.keys(columns).join(" | ")} |`,
    `|---|${"---|".repeat(Object.keys(columns).length)}`,
    ...[...shapingParameters, ...tuningParameters].map(
      (parameter) =>
        `| \`${parameter}\` | ${Object.values(columns)
          .map((support) => words[support[parameter]])
          .join(" | ")} |`
    ),
    "",
    "Vendors of chat completions that differ from other servers:",
    "",
    ...vendors
      .filter(({ id, protocol }) => protocol.id === "openai-chat" && id !== "openai")
      .flatMap(({ displayName, protocol }) => {
        const differing = differences(protocol.support, compatible)
        return differing === "" ? [] : [`- ${displayName}: ${differing}.`]
      })
  ].join("\n")
  const before = readFileSync(readme, "utf8")
  const after = before.replace(
    /<!-- support -->\n[\s\S]*?<!-- \/support -->/,
    () => `<!-- support -->\n${text}\n<!-- /support -->`
  )
  if (!before.includes("<!-- support -->")) throw new Error("The README has no place for the table.")
  if (!process.argv.includes("--check")) {
    console.log(text)
    if (after !== before) writeFileSync(readme, after)
  } else if (after !== before) {
    console.error("The README is behind the code: run node scripts/support-table.mjs")
    process.exitCode = 1
  }
} finally {
  rmSync(outfile, { force: true })
}
