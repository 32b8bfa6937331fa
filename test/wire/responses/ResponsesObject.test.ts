import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { ChatEvent, Finish } from "../../../src/domain/ChatEvent.ts"
import type { Usage } from "../../../src/domain/Usage.ts"
import { decodeReasoning } from "../../../src/wire/ReasoningContinuity.ts"
import { responseObject } from "../../../src/wire/responses/ResponsesObject.ts"
import { ResponsesObject } from "../../../src/wire/responses/ResponsesObjectSchema.ts"
import type { DecodedResponses } from "../../../src/wire/responses/ResponsesRequest.ts"
import { answerOf, decoded, head, idHex, metadata, someUsage } from "./ResponsesFixtures.ts"

const plain = decoded({})
const decodeObject = Schema.decodeUnknownSync(ResponsesObject, { onExcessProperty: "error" })

const objectOf = (
  events: ReadonlyArray<ChatEvent>,
  reason: Finish["reason"] = "stop",
  request: DecodedResponses = plain,
  counts: Usage | null = someUsage,
  dropped: ReadonlyArray<string> = []
) => {
  const answer = answerOf(events, { _tag: "Finish", reason, native: reason }, counts)
  const json: { readonly [key: string]: unknown } = JSON.parse(
    responseObject(head, request, answer, { ...metadata, dropped_parameters: dropped })
  )
  return { json, response: decodeObject(json) }
}

const text = (value: string): ChatEvent => ({ _tag: "Text", text: value })
const call = (index: number, args: string, name = "f", id = `call_${index}`): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind: "function",
  id,
  name,
  arguments: args
})

describe("the response object", () => {
  it("has every key that OpenAI and Open Responses require, none of the numbers null", () => {
    const { json } = objectOf([text("hi")])
    const keys =
      "id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key router_metadata"
    for (const key of keys.split(" ")) expect(json, key).toHaveProperty(key)
    for (const key of "temperature top_p presence_penalty frequency_penalty top_logprobs".split(" "))
      expect(typeof json[key]).toBe("number")
    expect(json).toMatchObject({ object: "response", store: false, background: false, service_tier: "default" })
  })

  it("forms its ids from the request's id", () => {
    const { response } = objectOf([
      { _tag: "Reasoning", index: 0, kind: "text", text: "hm" },
      text("hi"),
      call(0, "{}")
    ])
    expect(response.id).toBe(`resp_${idHex}`)
    expect(response.output.map((item) => item.id)).toEqual([`rs_${idHex}_0`, `msg_${idHex}_0`, `fc_${idHex}_0`])
    expect(response).toMatchObject({ model: "acme/large", created_at: 1_795_160_000, completed_at: 1_795_160_002 })
  })

  it("counts cached tokens in the input and reasoning in the output", () => {
    expect(objectOf([text("hi")]).response.usage).toEqual({
      input_tokens: 33,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 3 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 45
    })
    expect(objectOf([text("hi")], "stop", plain, null).response.usage).toBeNull()
  })

  it.each([
    ["stop", "completed", null],
    ["tool_calls", "completed", null],
    ["length", "incomplete", { reason: "max_output_tokens" }],
    ["content_filter", "incomplete", { reason: "content_filter" }]
  ] as const)("a finish of %s is %s", (finish, status, details) => {
    const { response } = objectOf([text("hi"), call(0, "{")], finish)
    expect(response).toMatchObject({ status, incomplete_details: details })
    expect(response.output.map((item) => "status" in item && item.status)).toEqual(["completed", status])
    expect(response.completed_at === null).toBe(status === "incomplete")
  })

  it("tells refusals, citations and log probabilities in the message", () => {
    const citation = { url: "https://x", title: "X", start_index: 0, end_index: 2 }
    const logprob = { token: "hi", logprob: -0.1, bytes: [104, 105], top_logprobs: [] }
    const { response } = objectOf([
      { _tag: "Text", text: "hi", logprobs: [logprob] },
      { _tag: "Annotation", annotation: { type: "url_citation", url_citation: citation } },
      { _tag: "Annotation", annotation: { type: "somebody_elses" } },
      { _tag: "Refusal", text: "no" }
    ])
    expect(response.output).toMatchObject([
      {
        content: [
          {
            type: "output_text",
            text: "hi",
            annotations: [{ type: "url_citation", ...citation }],
            logprobs: [logprob]
          },
          { type: "refusal", refusal: "no" }
        ]
      }
    ])
  })

  it("says which service tier was used", () => {
    const tiered = decoded({ service_tier: "flex" })
    expect(objectOf([text("hi")], "stop", tiered).response.service_tier).toBe("flex")
    expect(
      objectOf([text("hi"), { _tag: "ResponseInfo", serviceTier: "priority" }], "stop", tiered).response.service_tier
    ).toBe("priority")
    // the model does not have it
    expect(objectOf([text("hi")], "stop", tiered, someUsage, ["service_tier"]).response.service_tier).toBe("default")
  })

  it("carries signatures and opaque reasoning for the way back, and shows only what can be read", () => {
    const { response } = objectOf([
      { _tag: "Reasoning", index: 0, kind: "text", text: "hm", signature: "sig", id: "b0" },
      { _tag: "Reasoning", index: 1, kind: "encrypted", text: "opaque" },
      { _tag: "Reasoning", index: 2, kind: "text", text: "", signature: "alone" },
      { _tag: "Reasoning", index: 3, kind: "text", text: "" },
      text("hi")
    ])
    const reasoning = response.output.flatMap((item) => (item.type === "reasoning" ? [item] : []))
    expect(reasoning.map((item) => item.summary.map((part) => part.text))).toEqual([["hm"], [], []])
    expect(reasoning.map((item) => decodeReasoning(item.encrypted_content ?? "", item.summary[0]?.text ?? ""))).toEqual(
      [
        { type: "reasoning.text", text: "hm", signature: "sig", format: "acme/large", id: "b0" },
        { type: "reasoning.encrypted", data: "opaque", format: "acme/large" },
        { type: "reasoning.text", text: "", signature: "alone", format: "acme/large" }
      ]
    )
  })

  it("keeps reasoning that was not wanted to itself", () => {
    const { response } = objectOf(
      [{ _tag: "Reasoning", index: 0, kind: "text", text: "hm" }, text("hi")],
      "stop",
      decoded({ reasoning: { exclude: true } })
    )
    expect(response.output.map((item) => item.type)).toEqual(["message"])
  })
})

describe("calls come back as the client knows its tools", () => {
  const request = decoded({
    tools: [
      { type: "function", name: "f" },
      { type: "custom", name: "patch" },
      { type: "namespace", name: "mail", tools: [{ type: "function", name: "send" }] }
    ]
  })
  const outputOf = (...events: ReadonlyArray<ChatEvent>) => objectOf(events, "tool_calls", request).response.output

  it("in their namespace", () => {
    expect(outputOf(call(0, '{"a":1}', "mail__send"))).toEqual([
      {
        id: `fc_${idHex}_0`,
        type: "function_call",
        status: "completed",
        call_id: "call_0",
        name: "send",
        namespace: "mail",
        arguments: '{"a":1}'
      }
    ])
  })

  it("as custom calls", () => {
    const native: ChatEvent = {
      ...call(0, "*** x", "patch"),
      _tag: "ToolCall",
      kind: "custom",
      index: 0,
      arguments: "*** x"
    }
    const item = {
      id: `ctc_${idHex}_0`,
      type: "custom_tool_call",
      status: "completed",
      call_id: "call_0",
      name: "patch"
    }
    expect(outputOf(native)).toEqual([{ ...item, input: "*** x" }])
  })

  it("with distinct ids, also from a provider that gives none or repeats them", () => {
    const calls = outputOf(call(0, "{}", "f", "same"), call(1, "{}", "f", "same"), call(2, "{}", "f", ""))
    expect(calls.map((item) => "call_id" in item && item.call_id)).toEqual([
      "same",
      `call_${idHex}_1`,
      `call_${idHex}_2`
    ])
  })

  it("with what the model wants back", () => {
    const extraContent = { google: { thought_signature: "s" } }
    expect(
      outputOf({ ...call(0, "{}"), _tag: "ToolCall", kind: "function", index: 0, arguments: "{}", extraContent })
    ).toMatchObject([{ extra_content: extraContent }])
  })
})
