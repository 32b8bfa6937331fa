import { describe, expect, it } from "@effect/vitest"
import type { ChatRequest } from "../../../src/domain/Chat.ts"
import { anthropicMessages } from "../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../../src/provider/protocols/gemini/Gemini.ts"
import { meets, requirementsOf } from "../../../src/routing/Requirements.ts"
import { testModel } from "../../../src/testing/index.ts"
import { call } from "./calls.ts"

const formats = {
  "anthropic-messages": anthropicMessages,
  "bedrock-converse": bedrockConverse,
  gemini: Gemini.make("json")
} as const

/** Whether a model of the protocol is eligible, and whether the protocol can be sent the request. */
const judge = (protocol: keyof typeof formats, asked: Partial<ChatRequest>) => {
  const made = call(asked)
  const one = { ...testModel("a/m"), protocol }
  const lowered = formats[protocol].lower(made)
  return {
    eligible: requirementsOf(made.request, false).every((each) => meets(one, each, "byok") !== false),
    sendable: typeof lowered !== "object" || !("_tag" in lowered)
  }
}

describe.each(Object.keys(formats) as ReadonlyArray<keyof typeof formats>)("%s", (protocol) => {
  it.each([0, 1, 4, 5, 6, 64])("is eligible for %i stop strings exactly where it can be sent them", (count) => {
    const { eligible, sendable } = judge(protocol, { stop: Array.from({ length: count }, (_, at) => `stop ${at}`) })
    expect(eligible).toBe(sendable)
  })
})
