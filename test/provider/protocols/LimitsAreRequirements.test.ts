import { describe, expect, it } from "@effect/vitest"
import type { ChatRequest, FilePart, ImagePart, ToolChoice } from "../../../src/domain/Chat.ts"
import type { Model } from "../../../src/domain/Model.ts"
import { anthropicMessages } from "../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../../src/provider/protocols/gemini/Gemini.ts"
import { featuresOf } from "../../../src/routing/RequestFeatures.ts"
import { meets } from "../../../src/routing/Requirements.ts"
import { testModel } from "../../../src/testing/index.ts"
import { call } from "./calls.ts"

const formats = {
  "anthropic-messages": anthropicMessages,
  "bedrock-converse": bedrockConverse,
  gemini: Gemini.make("json")
} as const

/** Whether a model of the protocol is eligible, and whether the protocol can be sent the request. */
const judge = (protocol: keyof typeof formats, asked: Partial<ChatRequest>, more: Partial<Model> = {}) => {
  const one = { ...testModel("a/m"), protocol, ...more }
  const made = call(asked, { model: one })
  const lowered = formats[protocol].lower(made)
  return {
    eligible: featuresOf(made.request, false, 10, []).requirements.every((each) => meets(one, each, "byok") !== false),
    sendable: typeof lowered !== "object" || !("_tag" in lowered)
  }
}

const image = (mediaType: string): ImagePart => ({
  type: "image_url",
  image_url: { url: `data:${mediaType};base64,AAAA` }
})
const file = (mediaType: string, filename?: string): FilePart => ({
  type: "file",
  file: { file_data: `data:${mediaType};base64,AAAA`, ...(filename !== undefined && { filename }) }
})
const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

const parts: ReadonlyArray<readonly [string, ImagePart | FilePart]> = [
  ...["image/png", "image/jpg", "IMAGE/WEBP", "image/gif", "image/heic", "image/svg+xml", "image/tiff"].map(
    (type) => [`an image ${type}`, image(type)] as const
  ),
  ...[
    "image/png",
    "image/heic",
    "application/pdf",
    "text/csv",
    "text/x-unknown",
    "",
    "application/json",
    "application/zip"
  ].map((type) => [`a file ${type}`, file(type)] as const),
  ...[word, "application/vnd.ms-excel", "application/octet-stream"].map(
    (type) => [`a file ${type}`, file(type)] as const
  ),
  ["a file that its name says is a document", file("application/octet-stream", "a.PDF")],
  ["a file that its name says is text", file("application/octet-stream", "notes.md")],
  ["a file whose name says nothing", file("application/octet-stream", "a.bin")],
  ["a file by id", { type: "file", file: { file_id: "file-1" } }],
  ["a file by address", { type: "file", file: { file_data: "https://example.org/a.pdf" } }]
]

const tool = { type: "function", function: { name: "f" } } as const
const forcing: ReadonlyArray<ToolChoice> = [
  "auto",
  "none",
  "required",
  tool,
  { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool] } },
  { type: "allowed_tools", allowed_tools: { mode: "required", tools: [tool] } }
]

describe.each(Object.keys(formats) as ReadonlyArray<keyof typeof formats>)("%s", (protocol) => {
  it.each([0, 1, 4, 5, 6, 64])("is eligible for %i stop strings exactly where it can be sent them", (count) => {
    const { eligible, sendable } = judge(protocol, { stop: Array.from({ length: count }, (_, at) => `stop ${at}`) })
    expect(eligible).toBe(sendable)
  })

  it.each(forcing)("is eligible for the tool choice %j exactly where it can be sent it", (toolChoice) => {
    const reasoning = { efforts: ["high"], style: "effort", budget: null, defaultEffort: null, depth: null } as const
    for (const upstreamModel of ["m", "us.anthropic.claude-x-v1:0"]) {
      for (const [mandatory, reasonsByDefault] of [
        [true, true],
        [true, false],
        [false, true]
      ] as const) {
        const more: Partial<Model> = { upstreamModel, reasoning: { ...reasoning, mandatory }, reasonsByDefault }
        const { eligible, sendable } = judge(protocol, { tools: [tool], toolChoice }, more)
        expect(eligible).toBe(sendable)
      }
    }
  })

  it.each(parts)("is eligible for %s exactly where it can be sent it", (_, part) => {
    const asUser: Partial<ChatRequest> = { messages: [{ role: "user", content: [part] }] }
    const asResult: Partial<ChatRequest> = {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "c", content: [part] }
      ]
    }
    for (const asked of [asUser, asResult]) {
      const { eligible, sendable } = judge(protocol, asked)
      expect(eligible).toBe(sendable)
    }
  })
})
