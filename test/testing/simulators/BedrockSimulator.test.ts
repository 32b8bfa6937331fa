import { describe, expect, it } from "vitest"
import type { Model } from "../../../src/domain/Model.ts"
import { bedrockConverse } from "../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import { type Rejection, rejectedBy } from "../../../src/testing/simulators/bedrock/BedrockRules.ts"
import { defaultIdentity } from "../../../src/testing/simulators/bedrock/BedrockSimulator.ts"
import { gptOss, haiku, nova, opus, sonnet } from "../../provider/protocols/bedrock-converse/bedrock.ts"
import { call } from "../../provider/protocols/calls.ts"

type Json = Readonly<Record<string, unknown>>

const refusalOf = (
  body: Json,
  model: Model = opus,
  more: Readonly<Record<string, string>> = {}
): Rejection | undefined => {
  const verdict = rejectedBy(
    {
      method: "POST",
      path: bedrockConverse.path(call({}, { model })),
      headers: { "content-type": "application/json", authorization: "Bearer x", ...more },
      text: JSON.stringify(body),
      closed: Promise.resolve("answered")
    },
    defaultIdentity
  )
  return "rejection" in verdict ? verdict.rejection : undefined
}

const user = (...content: ReadonlyArray<Json>) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<Json>) => ({ role: "assistant", content })
const said = (text: string): Json => ({ text })
const called = (toolUseId: string): Json => ({ toolUse: { toolUseId, name: "f", input: {} } })
const answered = (toolUseId: string, more: Json = {}): Json => ({
  toolResult: { toolUseId, content: [said("x")], ...more }
})
const spec = (more: Json = {}): Json => ({
  toolSpec: { name: "f", inputSchema: { json: { type: "object" } }, ...more }
})
const tools = { toolConfig: { tools: [spec()] } }
const hi = { messages: [user(said("hi"))] }
const document = (name: string): Json => ({ document: { format: "pdf", name, source: { bytes: "AAAA" } } })
const asking = (more: Json): Json => ({ ...hi, ...more })
const schema = (value: unknown): Json =>
  asking({ outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema: { schema: value } } } } })
const withReasoning = (value: Json, more: Json = {}): Json =>
  asking({ inferenceConfig: { maxTokens: 4000 }, additionalModelRequestFields: { thinking: value }, ...more })

describe("Bedrock's simulator", () => {
  it("takes what the service takes", () => {
    expect(refusalOf(hi)).toBeUndefined()
    const conversation = {
      ...tools,
      messages: [
        user(said("go"), document("a"), { image: { format: "png", source: { bytes: "AAAA" } } }),
        assistant(called("a"), called("b")),
        user(answered("b"), answered("a", { status: "error" }), { cachePoint: { type: "default" } }, said("and?"))
      ]
    }
    expect(refusalOf(conversation)).toBeUndefined()
    expect(refusalOf(schema('{"type":"object","additionalProperties":false}'))).toBeUndefined()
    expect(refusalOf(withReasoning({ type: "enabled", budget_tokens: 1024 }), haiku)).toBeUndefined()
  })

  const refused: ReadonlyArray<readonly [why: string, body: Json, says: RegExp, model?: Model]> = [
    ["an unknown field", asking({ max_tokens: 1 }), /extraneous key/],
    ["an unknown field of the cap", asking({ inferenceConfig: { max_tokens: 1 } }), /extraneous key/],
    ["a first message that is not the user's", { messages: [assistant(said("x"))] }, /start with a user message/],
    ["roles that do not alternate", { messages: [user(said("a")), user(said("b"))] }, /alternate/],
    ["a last message that is not the user's", { messages: [user(said("a")), assistant(said("b"))] }, /prefill/],
    ["a message without content", { messages: [user()] }, /is empty/],
    ["blank text", { messages: [user(said(" "))] }, /is blank/],
    ["blank system text", asking({ system: [said("")] }), /is blank/],
    ["an empty system", asking({ system: [] }), /system/],
    [
      "tools in the conversation only",
      { messages: [user(said("a")), assistant(called("a")), user(answered("a"))] },
      /toolConfig/
    ],
    ["no tools in their place", asking({ toolConfig: { tools: [] } }), /at least 1/],
    ["a choice of none", asking({ toolConfig: { tools: [spec()], toolChoice: { none: {} } } }), /toolChoice/],
    [
      "a forced choice at a model without",
      asking({ toolConfig: { tools: [spec()], toolChoice: { any: {} } } }),
      /doesn't support/,
      gptOss
    ],
    [
      "a forced choice while it thinks",
      asking({ toolConfig: { tools: [spec()], toolChoice: { any: {} } } }),
      /forces tool use/,
      sonnet
    ],
    ["a tool name of another alphabet", asking({ toolConfig: { tools: [spec({ name: "a b" })] } }), /name: invalid/],
    ["the same tool twice", asking({ toolConfig: { tools: [spec(), spec()] } }), /not unique/],
    ["an empty description", asking({ toolConfig: { tools: [spec({ description: "" })] } }), /min length/],
    [
      "a strict tool with an open schema",
      asking({ toolConfig: { tools: [spec({ strict: true })] } }),
      /additionalProperties/
    ],
    ["a result without its call", { ...tools, messages: [user(answered("a"))] }, /exceeds the number/],
    [
      "a call without its result",
      { ...tools, messages: [user(said("a")), assistant(called("a")), user(said("b"))] },
      /Expected toolResult/
    ],
    [
      "text before the results",
      { ...tools, messages: [user(said("a")), assistant(called("a")), user(said("b"), answered("a"))] },
      /come first/
    ],
    [
      "an id of another alphabet",
      { ...tools, messages: [user(said("a")), assistant(called("a:b")), user(answered("a:b"))] },
      /must match/
    ],
    [
      "a status at a model without",
      { ...tools, messages: [user(said("a")), assistant(called("a")), user(answered("a", { status: "success" }))] },
      /status/,
      gptOss
    ],
    ["an image by address", { messages: [user({ image: { format: "png", source: { url: "https://x" } } })] }, /base64/],
    ["a document without text", { messages: [user(document("a"))] }, /text block must be included/],
    [
      "two documents of one name",
      { messages: [user(said("a"), document("a"), document("A"))] },
      /duplicate document names/
    ],
    ["a document with its extension", { messages: [user(said("a"), document("a.pdf"))] }, /file name/],
    [
      "reasoning without its signature",
      {
        messages: [
          user(said("a")),
          assistant({ reasoningContent: { reasoningText: { text: "x" } } }, said("y")),
          user(said("z"))
        ]
      },
      /signature/
    ],
    [
      "reasoning at a model that takes none",
      {
        messages: [
          user(said("a")),
          assistant({ reasoningContent: { reasoningText: { text: "x", signature: "s" } } }, said("y")),
          user(said("z"))
        ]
      },
      /cannot contain reasoning/,
      nova
    ],
    [
      "a cache point at a model without",
      { messages: [user(said("a"), { cachePoint: { type: "default" } })] },
      /prompt caching/,
      nova
    ],
    [
      "five cache points",
      { messages: [user(said("a"), ...Array.from({ length: 5 }, () => ({ cachePoint: { type: "default" } })))] },
      /maximum of 4/
    ],
    ["a schema that is an object", schema({ type: "object" }), /must be a string/],
    ["a schema that is open", schema('{"type":"object"}'), /additionalProperties/],
    ["an unknown effort", asking({ outputConfig: { effort: "none" } }), /known effort/],
    ["too warm a temperature", asking({ inferenceConfig: { temperature: 1.1 } }), /from 0 to 1/, nova],
    [
      "sampling while it thinks",
      withReasoning({ type: "enabled", budget_tokens: 1024 }, { inferenceConfig: { maxTokens: 4000, temperature: 1 } }),
      /thinking is enabled/,
      haiku
    ],
    ["both kinds of sampling", asking({ inferenceConfig: { temperature: 1, topP: 1 } }), /cannot both/, haiku],
    ["a blank stop sequence", asking({ inferenceConfig: { stopSequences: ["\n"] } }), /non-whitespace/],
    ["a budget above the cap", withReasoning({ type: "enabled", budget_tokens: 4000 }), /greater than/, haiku],
    [
      "top_k while it reasons",
      asking({
        inferenceConfig: { maxTokens: 4000 },
        additionalModelRequestFields: { top_k: 5, thinking: { type: "enabled", budget_tokens: 2000 } }
      }),
      /top_k may not be set/,
      haiku
    ],
    [
      "a field of another maker's",
      asking({ additionalModelRequestFields: { reasoning_effort: "low" } }),
      /not permitted/
    ],
    ["a model that is not there", hi, /identifier is invalid/, { ...nova, upstreamModel: "nova" }]
  ]
  for (const [why, body, says, model] of refused) {
    it(`refuses ${why}`, () => {
      expect(refusalOf(body, model)).toEqual({
        status: 400,
        name: "ValidationException",
        message: expect.stringMatching(says)
      })
    })
  }

  it("refuses who does not show that they may call", () => {
    expect(refusalOf(hi, opus, { authorization: "Basic eA==" })).toMatchObject({ status: 403 })
    expect(refusalOf(hi, opus, { "content-type": "text/plain" })).toMatchObject({ name: "SerializationException" })
  })
})
