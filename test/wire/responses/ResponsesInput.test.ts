import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { encodeReasoning } from "../../../src/wire/ReasoningContinuity.ts"
import { ResponsesRequest } from "../../../src/wire/responses/ResponsesRequestSchema.ts"
import { decoded, refusal, refused } from "./ResponsesFixtures.ts"

const messagesOf = (...input: ReadonlyArray<object>) => {
  expect(Schema.is(ResponsesRequest)({ model: "auto", input })).toBe(true)
  return decoded({ input }).request.messages
}
const refusedItem = (...input: ReadonlyArray<unknown>) => refused({ input })

const user = { role: "user", content: "hi" }
const functionCall = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: `{"n":"${id}"}` })
const output = (id: string, value: unknown = "done") => ({ type: "function_call_output", call_id: id, output: value })
const toolCall = (id: string) => ({ id, type: "function", function: { name: "f", arguments: `{"n":"${id}"}` } })
const ours = (signature: string | null, text = "hm") => ({
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text }],
  encrypted_content: encodeReasoning({ kind: "text", text, signature, id: null }, "acme/large")
})
const detail = { type: "reasoning.text", text: "hm", signature: "sig", format: "acme/large", index: 0 }

describe("messages", () => {
  it("need no type, and one plain text part is a string", () => {
    expect(
      messagesOf(
        { role: "system", content: "s" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "d" }] },
        { role: "user", content: [{ type: "input_text", text: "u" }], id: "msg_1", status: "completed" },
        {
          role: "assistant",
          content: [{ type: "output_text", text: "a", annotations: [], logprobs: [] }],
          phase: "final"
        }
      )
    ).toEqual([
      { role: "system", content: "s" },
      { role: "developer", content: "d" },
      { role: "user", content: "u" },
      { role: "assistant", content: "a" }
    ])
  })

  it("name the level of detail of files, which is not sent on", () => {
    const file = { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" }
    const said = (detail: unknown) => ({ role: "user", content: [{ ...file, detail }] })
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" }
    const output = { type: "function_call_output", call_id: "c", output: [{ ...file, detail: "high" }] }
    for (const input of [
      [said("low"), said("high")],
      [call, output]
    ]) {
      expect(decoded({ input }).request.ignored).toEqual(["input_file.detail"])
    }
    for (const detail of ["auto", null]) expect(decoded({ input: [said(detail)] }).request.ignored).toBeUndefined()
  })

  it("keep images, files, recordings, refusals and cache breakpoints", () => {
    const content = [
      { type: "input_text", text: "look", prompt_cache_breakpoint: { ttl: "1h" } },
      {
        type: "input_image",
        image_url: "https://x/y.png",
        detail: "low",
        prompt_cache_breakpoint: { mode: "explicit" }
      },
      { type: "input_image", image_url: "data:image/png;base64,AA", file_id: null },
      {
        type: "input_file",
        filename: "a.pdf",
        file_data: "data:application/pdf;base64,AA",
        prompt_cache_breakpoint: { mode: "explicit" }
      },
      { type: "input_audio", input_audio: { data: "AA", format: "wav" } }
    ]
    const said = [
      { type: "output_text", text: "no" },
      { type: "refusal", refusal: "never" }
    ]
    expect(messagesOf({ role: "user", content }, { role: "assistant", content: said })).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "look", prompt_cache_breakpoint: { ttl: "1h" } },
          {
            type: "image_url",
            image_url: { url: "https://x/y.png", detail: "low" },
            prompt_cache_breakpoint: { mode: "explicit" }
          },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
          {
            type: "file",
            file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
            prompt_cache_breakpoint: { mode: "explicit" }
          },
          { type: "input_audio", input_audio: { data: "AA", format: "wav" } }
        ]
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "no" },
          { type: "refusal", refusal: "never" }
        ]
      }
    ])
  })

  it.each<[object, string]>([
    [{ role: "tool", content: "x" }, "invalid_value input[0].role"],
    [{ content: "x" }, "missing_required_parameter input[0].role"],
    [{ role: "user" }, "missing_required_parameter input[0].content"],
    [{ role: "user", content: [{ type: "video" }] }, "invalid_value input[0].content[0].type"],
    [{ role: "user", content: [{ type: "refusal", refusal: "x" }] }, "invalid_value input[0].content[0].type"],
    [{ role: "system", content: [{ type: "input_image", image_url: "x" }] }, "invalid_value input[0].content[0].type"],
    [{ role: "user", content: [{ type: "input_text" }] }, "missing_required_parameter input[0].content[0].text"],
    [
      { role: "user", content: [{ type: "input_image", file_id: "file_1" }] },
      "unsupported_parameter input[0].content[0].file_id"
    ],
    [{ role: "user", content: [{ type: "input_image" }] }, "missing_required_parameter input[0].content[0].image_url"],
    [
      { role: "user", content: [{ type: "input_file", file_id: "file_1" }] },
      "unsupported_parameter input[0].content[0].file_id"
    ]
  ])("%j is refused", (item, expected) => {
    expect(refusedItem(item)).toBe(expected)
  })
})

describe("calls and their outputs", () => {
  it("parallel calls, and what was said before them, are one assistant message", () => {
    expect(
      messagesOf(
        user,
        { role: "assistant", content: "Let me see." },
        functionCall("a"),
        functionCall("b"),
        output("a"),
        output("b", [{ type: "input_text", text: "part" }])
      )
    ).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "Let me see.", tool_calls: [toolCall("a"), toolCall("b")] },
      { role: "tool", tool_call_id: "a", content: "done" },
      { role: "tool", tool_call_id: "b", content: "part" }
    ])
  })

  it("text between a call and its output joins the call's message", () => {
    expect(messagesOf(functionCall("a"), { role: "assistant", content: "soon" }, output("a"))).toEqual([
      { role: "assistant", content: "soon", tool_calls: [toolCall("a")] },
      { role: "tool", tool_call_id: "a", content: "done" }
    ])
  })

  it("an output follows its call also where another message stands in between", () => {
    const hint = { role: "developer", content: "Be quick." }
    const tool = (id: string) => ({ role: "tool", content: "done", tool_call_id: id })
    const call = (...ids: ReadonlyArray<string>) => ({
      role: "assistant",
      content: null,
      tool_calls: ids.map(toolCall)
    })
    expect(messagesOf(user, functionCall("a"), hint, output("a"))).toEqual([user, call("a"), tool("a"), hint])
    expect(messagesOf(user, functionCall("a"), functionCall("b"), output("a"), user, output("b"))).toEqual([
      user,
      call("a", "b"),
      tool("a"),
      tool("b"),
      user
    ])
    expect(messagesOf(functionCall("a"), user, functionCall("b"), output("b"), output("a"), hint)).toEqual([
      call("a"),
      tool("a"),
      user,
      call("b"),
      tool("b"),
      hint
    ])
    // an id that was used before is that of the last call
    expect(messagesOf(functionCall("a"), output("a"), functionCall("a"), user, output("a"))).toEqual([
      call("a"),
      tool("a"),
      call("a"),
      tool("a"),
      user
    ])
  })

  it("calls of later turns are messages of their own", () => {
    expect(messagesOf(functionCall("a"), output("a"), functionCall("b"), output("b")).map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "assistant",
      "tool"
    ])
  })

  it("two messages of the assistant stay two", () => {
    const said = (content: string) => ({ role: "assistant", content })
    expect(messagesOf(said("a"), said("b"))).toEqual([said("a"), said("b")])
  })

  it("images of outputs follow all outputs of the turn in a user message", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AA" }
    expect(
      messagesOf(
        functionCall("a"),
        functionCall("b"),
        output("a", [{ type: "input_text", text: "shot" }, image]),
        output("b", [image]),
        user
      ).slice(1)
    ).toEqual([
      { role: "tool", tool_call_id: "a", content: "shot" },
      { role: "tool", tool_call_id: "b", content: "The result is attached to the next message." },
      {
        role: "user",
        content: [
          { type: "text", text: "Attached to the result of the call a:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
          { type: "text", text: "Attached to the result of the call b:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }
        ]
      },
      { role: "user", content: "hi" }
    ])
  })

  it("custom calls stay custom and keep what their model wants back", () => {
    const extra = { google: { thought_signature: "s" } }
    expect(
      messagesOf(
        { type: "custom_tool_call", call_id: "c", name: "patch", input: "*** x", id: "ctc_1", extra_content: extra },
        { type: "custom_tool_call_output", call_id: "c", output: "ok" }
      )
    ).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "*** x" }, extra_content: extra }]
      },
      { role: "tool", tool_call_id: "c", content: "ok" }
    ])
  })

  it.each<[ReadonlyArray<object>, string]>([
    [[output("a")], "invalid_value input[0].call_id"],
    [[functionCall("a"), output("b")], "invalid_value input[1].call_id"],
    [[{ type: "function_call", call_id: "a", name: "f" }], "missing_required_parameter input[0].arguments"],
    [[{ type: "function_call", name: "f", arguments: "{}" }], "missing_required_parameter input[0].call_id"],
    [[functionCall("a"), { type: "function_call_output", call_id: "a" }], "missing_required_parameter input[1].output"]
  ])("%j is refused", (items, expected) => {
    expect(refusedItem(...items)).toBe(expected)
  })
})

describe("reasoning items", () => {
  it("of ours come back as the reasoning of the turn that follows, with origin and signature", () => {
    expect(
      messagesOf(user, ours("sig"), functionCall("a"), output("a"), ours("sig"), { role: "assistant", content: "ok" })
    ).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: null, tool_calls: [toolCall("a")], reasoning_details: [detail] },
      { role: "tool", tool_call_id: "a", content: "done" },
      { role: "assistant", content: "ok", reasoning_details: [detail] }
    ])
  })

  it("of one turn are numbered in order, also when they come after its text", () => {
    const messages = messagesOf(
      ours("sig"),
      { role: "assistant", content: "x" },
      ours("sig"),
      functionCall("a"),
      ours("sig"),
      user
    )
    expect(messages[0]).toEqual({
      role: "assistant",
      content: "x",
      tool_calls: [toolCall("a")],
      reasoning_details: [detail, { ...detail, index: 1 }, { ...detail, index: 2 }],
      order: ["reasoning", "text", "reasoning", "call", "reasoning"]
    })
  })

  it("between the calls of one turn keep their place", () => {
    const [turn] = messagesOf(ours("sig"), functionCall("a"), ours("sig"), functionCall("b"), user)
    expect(turn).toMatchObject({
      tool_calls: [{ id: "a" }, { id: "b" }],
      order: ["reasoning", "call", "reasoning", "call"]
    })
  })

  it.each([
    ["encrypted", { type: "reasoning.encrypted", data: "opaque" }],
    ["summary", { type: "reasoning.summary", summary: "read" }]
  ] as const)("%s blocks survive the way there and back", (kind, expected) => {
    const text = kind === "encrypted" ? "opaque" : "read"
    const item = {
      type: "reasoning",
      summary: kind === "encrypted" ? [] : [{ type: "summary_text", text }],
      encrypted_content: encodeReasoning({ kind, text, signature: null, id: "blk" }, "acme/large")
    }
    expect(messagesOf(item, { role: "assistant", content: "x" })[0]).toMatchObject({
      reasoning_details: [{ ...expected, format: "acme/large", id: "blk", index: 0 }]
    })
  })

  it("that lead to no turn of the assistant do not reach a later one", () => {
    expect(messagesOf(ours("s"), user, { role: "assistant", content: "x" })[1]).toEqual({
      role: "assistant",
      content: "x"
    })
  })

  it("of others are left out", () => {
    const future = { ...ours("s"), encrypted_content: ours("s").encrypted_content.replace("mrg1.", "mrg2.") }
    const foreign = { type: "reasoning", id: "rs", summary: [], encrypted_content: "gAAAA" }
    const broken = { type: "reasoning", id: "rs", summary: [], encrypted_content: "mrg1.e30" }
    expect(
      messagesOf(
        foreign,
        future,
        broken,
        { type: "reasoning", summary: [] },
        { role: "assistant", content: "x" },
        user,
        ours("s"),
        user
      )
    ).toEqual([{ role: "assistant", content: "x" }, user, user])
  })
})

describe("other items", () => {
  it("an item reference is refused with the way out, also when it has only an id", () => {
    expect(refusedItem(user, { type: "item_reference", id: "msg_1" })).toBe("unsupported_parameter input[1]")
    expect(refusedItem({ id: "msg_1" })).toBe("unsupported_parameter input[0]")
    expect(refusal({ model: "auto", input: [{ type: "item_reference", id: "x" }] }).message).toContain("store: false")
  })

  it("web searches of the past are removed", () => {
    expect(messagesOf({ type: "web_search_call", id: "ws_1", status: "completed" }, user)).toEqual([user])
    expect(refusedItem({ type: "web_search_call", id: "ws_1" })).toBe("invalid_value input")
  })

  it.each(["mcp_call", "computer_call", "file_search_call", "compaction"])("%s is refused", (type) => {
    expect(refusedItem(user, { type, id: "x" })).toBe("unsupported_value input[1].type")
  })

  const everyItem: ReadonlyArray<Readonly<Record<string, unknown>>> = [
    { type: "message", role: "user", content: "x" },
    { role: "assistant", content: "x" },
    { type: "message", role: "developer", content: "x" },
    functionCall("a"),
    { type: "custom_tool_call", call_id: "b", name: "f", input: "x" },
    output("c"),
    { type: "custom_tool_call_output", call_id: "c", output: "x" },
    { type: "reasoning", summary: [] },
    { type: "web_search_call" }
  ]

  it.each(everyItem)("%j may come with what was returned beside it, or null, and not with another type", (item) => {
    const names = [
      "id",
      ...(item["type"] === "web_search_call" ? [] : ["status"]),
      ...("role" in item ? ["phase"] : [])
    ]
    const before = [user, functionCall("c")]
    for (const name of names) {
      for (const value of [null, "", "msg_1"]) {
        expect(messagesOf(...before, { ...item, [name]: value })).toEqual(messagesOf(...before, item))
      }
      for (const value of [5, true, {}, ["x"]]) {
        expect(refusedItem(...before, { ...item, [name]: value })).toBe(`invalid_type input[2].${name}`)
      }
    }
  })

  it.each<[object, string]>([
    [{ summary: "x" }, "invalid_type input[0].summary"],
    [{ summary: {} }, "invalid_type input[0].summary"],
    [{ summary: ["x"] }, "invalid_type input[0].summary[0]"],
    [{ summary: [{ type: "summary_text", text: 5 }] }, "invalid_type input[0].summary[0].text"],
    [{ content: "x" }, "invalid_type input[0].content"],
    [{ content: [{ type: "reasoning_text", text: [] }] }, "invalid_type input[0].content[0].text"],
    [{ encrypted_content: 5 }, "invalid_type input[0].encrypted_content"]
  ])("reasoning with %j is refused, ours and that of others", (fields, expected) => {
    expect(refusedItem({ type: "reasoning", ...fields }, user)).toBe(expected)
    expect(refusedItem({ ...ours("s"), ...fields }, user)).toBe(expected)
  })

  it("reasoning of others is taken as agents send it back", () => {
    const sent = [
      { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: null, status: null },
      { type: "reasoning", summary: null, content: [{ type: "reasoning_text", text: "hm" }], encrypted_content: "gAA" },
      { type: "reasoning", id: null, summary: [{ type: "summary_text", text: "hm" }], status: "completed" }
    ]
    expect(messagesOf(...sent, user)).toEqual([user])
  })

  it("what is no item at all is refused", () => {
    expect(refusedItem("x")).toBe("invalid_type input[0]")
  })

  it("no more than 20 000 are taken", () => {
    const input = Array.from({ length: 20_001 }, () => user)
    expect(refused({ input })).toBe("invalid_value input")
    expect(decoded({ input: input.slice(1) }).request.messages).toHaveLength(20_000)
  })
})
