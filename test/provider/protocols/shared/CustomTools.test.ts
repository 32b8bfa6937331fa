import { expect, it } from "vitest"
import type { Tool } from "../../../../src/domain/Chat.ts"
import type { ChatEvent } from "../../../../src/domain/ChatEvent.ts"
import type { Provider, ProviderCall, Receiver } from "../../../../src/provider/Provider.ts"
import { asFunctions } from "../../../../src/provider/protocols/shared/CustomTools.ts"
import { call } from "../calls.ts"

const patch: Tool = {
  type: "custom",
  custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } } }
}
const weather: Tool = { type: "function", function: { name: "weather" } }

/** What a provider is asked, and what its client sees of the events it answers with. */
const through = (request: Parameters<typeof call>[0], events: ReadonlyArray<ChatEvent>) => {
  const seen: Array<ChatEvent | "end"> = []
  let asked: ProviderCall | undefined
  const provider: Provider = {
    id: "p",
    open: (given, receiver: Receiver) => {
      asked = given
      for (const event of events) receiver.event(event)
      receiver.end()
      return { pause: () => {}, resume: () => {}, close: () => {} }
    }
  }
  asFunctions(provider).open(call(request), {
    activity: () => {},
    event: (event) => seen.push(event),
    end: () => seen.push("end"),
    fail: () => {}
  })
  if (asked === undefined) throw new Error("the provider was not called")
  return { request: asked.request, seen }
}

const stop: ChatEvent = { _tag: "Finish", reason: "tool_calls", native: "tool_calls" }

it("custom tools are offered as functions of one text, everywhere in the request", () => {
  const { request } = through(
    {
      tools: [weather, patch],
      toolChoice: { type: "custom", custom: { name: "patch" } },
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: 'a "b"' } }] },
        { role: "tool", tool_call_id: "c", content: "ok" }
      ]
    },
    [stop]
  )
  expect(request.tools[1]).toMatchObject({
    type: "function",
    function: {
      name: "patch",
      parameters: { required: ["input"], properties: { input: { description: expect.stringContaining("start: x") } } }
    }
  })
  expect(request.messages[1]).toMatchObject({
    tool_calls: [{ id: "c", type: "function", function: { name: "patch", arguments: '{"input":"a \\"b\\""}' } }]
  })
  expect(request.toolChoice).toEqual({ type: "function", function: { name: "patch" } })
})

it.each([{ tools: [] }, { tools: [weather] }])(
  "custom calls of the conversation are functions also without custom tools in the request: $tools",
  ({ tools }) => {
    const { request, seen } = through(
      {
        tools,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "x" } }] },
          { role: "tool", tool_call_id: "c", content: "ok" }
        ]
      },
      [{ _tag: "ToolCall", index: 0, kind: "function", id: "b", name: "weather", arguments: "{}" }, stop]
    )
    expect(request.tools).toEqual(tools)
    expect(request.messages[1]).toEqual({
      role: "assistant",
      tool_calls: [{ id: "c", type: "function", function: { name: "patch", arguments: '{"input":"x"}' } }]
    })
    expect(seen[0]).toMatchObject({ kind: "function", name: "weather", arguments: "{}" })
  }
)

it("their calls come back as custom calls with the text, beside calls of functions", () => {
  const { seen } = through({ tools: [weather, patch] }, [
    { _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "patch", arguments: '{"in' },
    { _tag: "ToolCall", index: 1, kind: "function", id: "b", name: "weather", arguments: "{}" },
    { _tag: "ToolCall", index: 0, kind: "function", arguments: 'put":"x\\ny"}' },
    stop
  ])
  expect(seen).toEqual([
    { _tag: "ToolCall", index: 0, kind: "custom", id: "a", name: "patch", arguments: "" },
    { _tag: "ToolCall", index: 1, kind: "function", id: "b", name: "weather", arguments: "{}" },
    { _tag: "ToolCall", index: 0, kind: "custom", arguments: "x\ny" },
    stop,
    "end"
  ])
})

it.each(['{"input":""}', "{}", ""])("an empty input stays empty: %s", (given) => {
  const { seen } = through({ tools: [patch] }, [
    { _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "patch", arguments: given },
    stop
  ])
  expect(seen).toEqual([
    { _tag: "ToolCall", index: 0, kind: "custom", id: "a", name: "patch", arguments: "" },
    { _tag: "ToolCall", index: 0, kind: "custom", arguments: "" },
    stop,
    "end"
  ])
})

it("arguments of another form are passed on as they are", () => {
  const { seen } = through({ tools: [patch] }, [
    { _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "patch", arguments: "plain" },
    stop
  ])
  expect(seen[1]).toMatchObject({ kind: "custom", arguments: "plain" })
})

it("a request without custom tools is left alone", () => {
  const { request } = through({ tools: [weather], toolChoice: "required" }, [stop])
  expect(request).toEqual(call({ tools: [weather], toolChoice: "required" }).request)
})
