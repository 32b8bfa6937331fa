import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import OpenAI from "openai"
import type { Answer } from "../../../src/domain/Completion.ts"
import { chatCompletion } from "../../../src/wire/chat/ChatAnswer.ts"
import { ChatCompletion } from "../../../src/wire/chat/ChatAnswerSchema.ts"
import { chatUsage } from "../../../src/wire/chat/ChatUsage.ts"
import { counts, head, metadata } from "./AnswerArbitraries.ts"

const answer: Answer = {
  text: "",
  refusal: "",
  reasoning: [],
  toolCalls: [],
  annotations: [],
  audio: null,
  logprobs: null,
  finish: "stop",
  nativeFinish: "end_turn",
  stopSequence: null,
  usage: counts,
  servedModel: null,
  serviceTier: null,
  systemFingerprint: null
}

const strict = Schema.decodeUnknownSync(ChatCompletion, { onExcessProperty: "error" })
const written = (more: Partial<Answer>, excludeReasoning = false): ChatCompletion =>
  strict(JSON.parse(chatCompletion(head, { ...answer, ...more }, metadata, { excludeReasoning })))
const message = (more: Partial<Answer>, excludeReasoning = false) => written(more, excludeReasoning).choices[0].message

describe("a non-streaming response", () => {
  it("has every key that clients require, and no list that is empty", () => {
    expect(written({ text: "hi", serviceTier: "default" })).toStrictEqual({
      id: "chatcmpl-01941f297c007abc8def0123456789ab",
      object: "chat.completion",
      created: 1_795_160_000,
      model: "acme/large",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "hi", refusal: null },
          logprobs: null,
          finish_reason: "stop"
        }
      ],
      usage: {
        prompt_tokens: 41,
        completion_tokens: 12,
        total_tokens: 53,
        prompt_tokens_details: { cached_tokens: 32, cache_write_tokens: 2, audio_tokens: 1 },
        completion_tokens_details: {
          reasoning_tokens: 3,
          accepted_prediction_tokens: 4,
          rejected_prediction_tokens: 5,
          audio_tokens: 2
        }
      },
      service_tier: "default",
      system_fingerprint: "fp_gateway_1",
      router_metadata: metadata
    })
  })

  it("has null content only where it is something else than text", () => {
    const toolCalls = [{ kind: "function", id: "c", name: "f", arguments: "{}", extraContent: null }] as const
    expect(message({}).content).toBe("")
    expect(message({ toolCalls }).content).toBeNull()
    expect(message({ toolCalls, text: "a" }).content).toBe("a")
    expect(message({ refusal: "no" })).toMatchObject({ content: null, refusal: "no" })
    expect(message({ audio: { id: "a" } })).toMatchObject({ content: null, audio: { id: "a" } })
  })

  it("returns tool calls of both kinds with what must come back with them", () => {
    const toolCalls = [
      { kind: "function", id: "c", name: "f", arguments: "{}", extraContent: { google: { thought_signature: "s" } } },
      { kind: "custom", id: "d", name: "g", arguments: "in", extraContent: null }
    ] as const
    expect(message({ toolCalls }).tool_calls).toStrictEqual([
      {
        id: "c",
        type: "function",
        function: { name: "f", arguments: "{}" },
        extra_content: { google: { thought_signature: "s" } }
      },
      { id: "d", type: "custom", custom: { name: "g", input: "in" } }
    ])
  })

  it("shows reasoning with its origin, and none of it when it is excluded", () => {
    const reasoning = [
      { kind: "summary", text: "hm ", signature: null, id: "rs" },
      { kind: "text", text: "so", signature: "sig", id: null },
      { kind: "encrypted", text: "AA", signature: null, id: null }
    ] as const
    const format = "acme/large"
    expect(message({ text: "a", reasoning })).toStrictEqual({
      role: "assistant",
      content: "a",
      refusal: null,
      reasoning_content: "hm so",
      reasoning: "hm so",
      reasoning_details: [
        { type: "reasoning.summary", summary: "hm ", format, id: "rs", index: 0 },
        { type: "reasoning.text", text: "so", signature: "sig", format, index: 1 },
        { type: "reasoning.encrypted", data: "AA", format, index: 2 }
      ]
    })
    expect(message({ text: "a", reasoning }, true)).toStrictEqual({ role: "assistant", content: "a", refusal: null })
  })

  it("invents no usage", () => {
    expect("usage" in written({ usage: null })).toBe(false)
  })

  it("is read whole by the official client", async () => {
    const body = chatCompletion(
      head,
      { ...answer, text: "hi", logprobs: [{ token: "hi", logprob: -0.5, bytes: null, top_logprobs: [] }] },
      metadata,
      { excludeReasoning: false }
    )
    const client = new OpenAI({
      apiKey: "k",
      baseURL: "http://gateway.test/v1",
      fetch: async () => new Response(body, { headers: { "content-type": "application/json" } })
    })
    const completion = await client.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: "hi" }]
    })
    expect(completion.choices[0]?.message.content).toBe("hi")
    expect(completion.choices[0]?.logprobs?.content?.[0]?.logprob).toBe(-0.5)
    expect(completion.usage).toEqual(chatUsage(counts))
    expect(completion).toMatchObject({ router_metadata: metadata })
  })
})
