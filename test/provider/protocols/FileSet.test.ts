import { readdirSync } from "node:fs"
import { expect, it } from "vitest"

const folder = new URL("../../../src/provider/protocols/", import.meta.url)

const protocols: Readonly<Record<string, string>> = {
  "anthropic-messages": "AnthropicMessages.ts",
  "bedrock-converse": "BedrockConverse.ts",
  gemini: "Gemini.ts",
  "openai-chat": "OpenAiChat.ts"
}

/** The files of every protocol, with what each of them exports. */
const steps: Readonly<Record<string, ReadonlyArray<string>>> = {
  "Lower.ts": ["lower"],
  "Messages.ts": ["lowerMessages"],
  "Tools.ts": ["lowerTools"],
  "Reasoning.ts": ["lowerReasoning"],
  "Decode.ts": ["nonStreaming", "streamDecoder"],
  "Usage.ts": ["usageOf"],
  "FinishReasons.ts": ["finishReasonOf"],
  "Errors.ts": ["classify", "classifyInBand"]
}

it("every folder of a protocol is known here", () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => name).sort()).toEqual([...Object.keys(protocols), "shared"].sort())
})

it.each(Object.entries(protocols))(
  "%s has a file for each step, with the same exports as the others",
  async (name, value) => {
    expect(readdirSync(new URL(`${name}/`, folder))).toEqual(expect.arrayContaining([value, ...Object.keys(steps)]))
    for (const [file, exports] of Object.entries(steps)) {
      const module: object = await import(new URL(`${name}/${file}`, folder).href)
      expect(Object.keys(module), file).toEqual(expect.arrayContaining([...exports]))
    }
  }
)
