// @ts-check
// Writes src/provider/vendors/README.md, what each protocol takes, from the protocols' own tables: `npm run parameters`.
// With --check it only says whether the file is as the code has it.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/root.mjs"
import { importSources } from "../lib/sources.mjs"

/** @typedef {import("../../src/domain/Support.ts").SupportTable} SupportTable */

const file = "src/provider/vendors/README.md"
const words = { native: "native", translated: "translated", dropped: "dropped with note", refused: "refused" }

/** @type {typeof import("./support.ts")} */
const { configured, shapingParameters, tuningParameters, vendors } = await importSources(
  new URL("./support.ts", import.meta.url)
)
const parameters = [...shapingParameters, ...tuningParameters]

/** @param {string} id */
const supportOf = (id) => {
  const vendor = vendors.find((one) => one.id === id)
  if (vendor === undefined) throw new Error(`There is no vendor ${id}.`)
  return vendor.protocol.support
}

const otherServer = configured({ id: "any", protocol: "openai-chat", baseUrl: "http://127.0.0.1:1" })
if (otherServer === undefined) throw new Error("A protocol and a base URL make a provider.")
const otherServers = otherServer.protocol.support
const columns = {
  "`openai-chat`, OpenAI": supportOf("openai"),
  "`openai-chat`, other servers": otherServers,
  "`anthropic-messages`": supportOf("anthropic"),
  "`gemini`": supportOf("google"),
  "`bedrock-converse`": supportOf("amazon-bedrock")
}

/** Where a server differs from others of its protocol. @param {SupportTable} support */
const differences = (support) => {
  /** @type {Map<keyof typeof words, Array<string>>} */
  const byKind = new Map()
  for (const parameter of parameters) {
    const kind = support[parameter]
    if (kind !== otherServers[parameter]) byKind.set(kind, [...(byKind.get(kind) ?? []), `\`${parameter}\``])
  }
  return [...byKind].map(([kind, named]) => `${named.join(", ")} ${words[kind]}`).join("; ")
}

const differing = vendors
  .filter(({ id, protocol }) => protocol.id === "openai-chat" && id !== "openai")
  .flatMap(({ displayName, protocol }) => {
    const text = differences(protocol.support)
    return text === "" ? [] : [`- ${displayName}: ${text}.`]
  })
const protocols = new Set(vendors.map(({ protocol }) => protocol.id))

const text = `<!-- Written by \`npm run parameters\` from the code. -->
# Vendors, and what each protocol takes

${vendors.length} vendors speak ${protocols.size} protocols, with ${parameters.length} parameters that depend on the provider.

Every provider takes messages, tools and streaming; the table says what becomes of the parameters that depend on the
provider. *Native*: the provider has the same field. *Translated*: another field carries it. *Dropped with note*: it only
tunes the answer, so it is left out and named in \`router_metadata.dropped_parameters\`. *Refused*: it shapes the answer, so
\`auto\` does not choose the provider, and a concrete id is answered with 400 \`unsupported_for_provider\`. What a single model
does not take, such as \`temperature\` where it reasons, is in the catalog and treated alike. At other servers of \`openai-chat\`,
\`service_tier\`, \`web_search_options\` and audio output are native for the models that have a price for them.
\`tool_choice.required\` is any choice that forces a call, \`stop[1]\` more than one stop string,
\`response_format.tools\` a JSON format together with tools, which Gemini takes from version 3 on, and
\`response_format.json_schema.stream\` a JSON schema of a streamed response.

| parameter | ${Object.keys(columns).join(" | ")} |
|---|${"---|".repeat(Object.keys(columns).length)}
${parameters
  .map((parameter) => {
    const cells = Object.values(columns).map((support) => words[support[parameter]])
    return `| \`${parameter}\` | ${cells.join(" | ")} |`
  })
  .join("\n")}

Vendors of chat completions that differ from other servers:

${differing.join("\n")}
`

const target = join(root, file)
if (!process.argv.includes("--check")) writeFileSync(target, text)
else if (readFileSync(target, "utf8") !== text) {
  console.error(`${file} is not as the code has it: npm run parameters`)
  process.exitCode = 1
}
