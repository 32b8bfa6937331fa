import { describe, expect, it } from "vitest"
import type { ChatRequest, Message } from "../../src/domain/Chat.ts"
import { ProjectId } from "../../src/domain/Ids.ts"
import * as Conversations from "../../src/routing/Conversations.ts"
import { request } from "./models.ts"

const project = ProjectId.make("01890000-0000-7000-8000-000000000001")
const other = ProjectId.make("01890000-0000-7000-8000-000000000002")
const system: Message = { role: "system", content: "Be brief." }
const question: Message = { role: "user", content: "What is in the file a.txt?" }
const toolCall: Message = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: "{}" } }]
}
const result: Message = { role: "tool", tool_call_id: "call_1", content: "Hello" }
const first = [system, question]
const second = [...first, toolCall, result]

const start = () => {
  let now = 0
  const conversations = Conversations.make({ now: () => now, after: () => () => {} })
  const affinity = (messages: ReadonlyArray<Message>, more: Partial<ChatRequest> = {}, of = project) =>
    conversations.placeOf(of, request({ messages, ...more })).affinity
  const answered = (messages: ReadonlyArray<Message>, model: string, more: Partial<ChatRequest> = {}) =>
    conversations.answered(conversations.placeOf(project, request({ messages, ...more })), model, 900)
  const wait = (millis: number): void => {
    now += millis
  }
  return { affinity, answered, wait }
}

describe("A conversation", () => {
  it("is known by the messages that it begins with, and the result of a tool belongs to the model that called it", () => {
    const { affinity, answered } = start()
    expect(affinity(first)).toBeUndefined()
    answered(first, "acme/a")
    expect(affinity(second)).toEqual({ modelId: "acme/a", cachedTokens: 900, inToolLoop: true })
    answered(second, "acme/b")
    expect(affinity([...second, { role: "assistant", content: "Hi" }, question])).toEqual({
      modelId: "acme/b",
      cachedTokens: 900,
      inToolLoop: false
    })
  })

  it("is in the loop of its tools also where a text came with their results", () => {
    const { affinity, answered } = start()
    answered(first, "acme/a")
    const reminder: Message = { role: "user", content: "<system-reminder>Nothing to do.</system-reminder>" }
    expect(affinity([...second, reminder])?.inToolLoop).toBe(true)
    expect(affinity([...second, { role: "assistant", content: "Hi" }, reminder])?.inToolLoop).toBe(false)
  })

  it("is not another one that begins otherwise, that asks the same anew, or of another project", () => {
    const { affinity, answered } = start()
    answered(first, "acme/a")
    expect(affinity([question, toolCall, result])).toBeUndefined()
    expect(affinity(first)).toBeUndefined()
    expect(affinity(second, {}, other)).toBeUndefined()
  })

  it("is known by its prompt_cache_key, whatever its messages", () => {
    const { affinity, answered } = start()
    answered(first, "acme/a", { promptCacheKey: "k" })
    expect(affinity([question], { promptCacheKey: "k" })?.modelId).toBe("acme/a")
    expect(affinity([question], { promptCacheKey: "other" })).toBeUndefined()
  })

  it("is no longer cached after five minutes, and forgotten after an hour", () => {
    const { affinity, answered, wait } = start()
    answered(first, "acme/a")
    wait(300_001)
    expect(affinity(second)).toEqual({ modelId: "acme/a", cachedTokens: 0, inToolLoop: true })
    wait(3_600_000)
    expect(affinity(second)).toBeUndefined()
  })
})
