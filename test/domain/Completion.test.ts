import { describe, expect, it } from "vitest"
import type { ChatEvent, ToolCallDelta } from "../../src/domain/ChatEvent.ts"
import { Accumulator } from "../../src/domain/Completion.ts"
import { usage } from "../../src/domain/Usage.ts"

const finish: ChatEvent = { _tag: "Finish", reason: "stop", native: "stop" }
const call = (index: number, more: Partial<ToolCallDelta>): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind: "function",
  arguments: "",
  ...more
})

const answerOf = (...events: ReadonlyArray<ChatEvent>) => {
  const accumulator = new Accumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer
}

describe("the answer that events add up to", () => {
  it("is none until a finish has come", () => {
    const text: ChatEvent = { _tag: "Text", text: "a" }
    expect(answerOf(text)).toBeUndefined()
    expect(answerOf(text, finish)).toMatchObject({ text: "a", finish: "stop", nativeFinish: "stop" })
  })

  it("keeps the name and id that a tool call came with, and takes those that come late", () => {
    const answer = answerOf(
      call(0, { id: "a", name: "first", arguments: "{" }),
      call(0, { id: "b", name: "second", arguments: "}" }),
      call(1, { arguments: "[" }),
      call(1, { id: "c", name: "late", arguments: "]" }),
      finish
    )
    expect(answer?.toolCalls).toMatchObject([
      { id: "a", name: "first", arguments: "{}" },
      { id: "c", name: "late", arguments: "[]" }
    ])
  })

  it("has its tool calls and its reasoning in their own order, whichever came first", () => {
    const reasoningAt = (index: number, text: string): ChatEvent => ({ _tag: "Reasoning", index, kind: "text", text })
    const answer = answerOf(
      reasoningAt(1, "second"),
      call(1, { id: "b", name: "g" }),
      call(0, { id: "a", name: "f" }),
      reasoningAt(0, "first"),
      finish
    )
    expect(answer?.toolCalls.map(({ id }) => id)).toEqual(["a", "b"])
    expect(answer?.reasoning.map(({ text }) => text)).toEqual(["first", "second"])
  })

  it("has the last usage and the last facts about itself", () => {
    const answer = answerOf(
      { _tag: "ResponseInfo", model: "m1", serviceTier: "default" },
      { _tag: "Usage", usage: usage({ inputTokens: 1 }) },
      { _tag: "ResponseInfo", model: "m2" },
      { _tag: "Usage", usage: usage({ inputTokens: 2 }) },
      finish
    )
    expect(answer).toMatchObject({ servedModel: "m2", serviceTier: "default", usage: { inputTokens: 2 } })
  })
})
