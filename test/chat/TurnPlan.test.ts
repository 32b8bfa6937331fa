import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import type { Message } from "../../src/chat/MessageStore.ts"
import { editPlan, requireRoom, retryPlan, sendPlan } from "../../src/chat/TurnPlan.ts"
import { ConversationId, MessageId } from "../../src/domain/Ids.ts"

const idOf = (at: number) => MessageId.make(`00000000-0000-7000-8000-${String(at).padStart(12, "0")}`)

const message = (id: number, role: Message["role"], position: number, more: Partial<Message> = {}): Message => ({
  id: idOf(id),
  conversationId: ConversationId.make("00000000-0000-7000-8000-000000000000"),
  position,
  version: 1,
  isCurrent: true,
  role,
  status: "complete",
  content: "",
  reasoning: "",
  settings: null,
  steps: [],
  modelRequested: null,
  modelUsed: null,
  requestIds: [],
  finishReason: null,
  errorCode: null,
  errorMessage: null,
  costMicroUsd: 0,
  costBasis: "charged",
  createdAt: new Date(0),
  ...more
})
const settings = { model: "a/a", artifacts: false, system: "Be brief." }
/** Two questions with their answers; the last question has an earlier version. */
const written = [
  message(1, "user", 0),
  message(2, "assistant", 1),
  message(3, "user", 2, { isCurrent: false }),
  message(4, "user", 2, { version: 2 }),
  message(5, "assistant", 3, { settings })
]
const outcomeOf = <A, E>(plan: Either.Either<A, E>) => Either.merge(plan)

describe("what is asked", () => {
  it("comes after the current messages, whatever versions there are", () => {
    const asked = { content: "And now?", image_ids: ["i"], model: "b/b", artifacts: true }
    expect(sendPlan(written, asked)).toEqual({
      position: 4,
      content: "And now?",
      images: ["i"],
      settings: { model: "b/b", artifacts: true }
    })
  })

  it("again is the question before the last answer, with the answer's settings where the request has none", () => {
    expect(outcomeOf(retryPlan(written, idOf(5), { model: "b/b" }))).toEqual({
      position: 2,
      content: undefined,
      images: [],
      settings: { ...settings, model: "b/b" }
    })
  })

  it("in place of the last question keeps the settings of its answer", () => {
    expect(outcomeOf(editPlan(written, idOf(4), { content: "Other", artifacts: true }))).toEqual({
      position: 2,
      content: "Other",
      settings: { ...settings, artifacts: true }
    })
  })

  it("in place of a question without an answer yet has the default settings", () => {
    expect(outcomeOf(editPlan(written.slice(0, 4), idOf(4), { content: "Other" }))).toMatchObject({
      position: 2,
      settings: { model: "auto", artifacts: true }
    })
  })

  it("is neither an earlier message, nor one of the other role, nor an earlier version, nor an answer that is gone", () => {
    const notLast = { code: "invalid_value", param: "message_id" }
    expect(outcomeOf(retryPlan(written, idOf(2), {}))).toMatchObject(notLast)
    expect(outcomeOf(retryPlan(written, idOf(4), {}))).toMatchObject(notLast)
    expect(outcomeOf(retryPlan(written.slice(0, 4), idOf(2), {}))).toMatchObject(notLast)
    expect(outcomeOf(editPlan(written, idOf(1), { content: "Other" }))).toMatchObject(notLast)
    expect(outcomeOf(editPlan(written, idOf(5), { content: "Other" }))).toMatchObject(notLast)
    expect(outcomeOf(editPlan(written, idOf(3), { content: "Other" }))).toMatchObject({ _tag: "NotFound" })
    expect(outcomeOf(retryPlan(written, idOf(9), {}))).toMatchObject({ _tag: "NotFound" })
  })
})

describe("the room of a conversation", () => {
  const filled = (count: number) => Array.from({ length: count }, (_, at) => message(at, "user", at))
  const half = "a".repeat(4 * 1024 * 1024)

  it("is 2,000 messages with the question and its answer", () => {
    expect(Either.isRight(requireRoom(filled(1_998), "more"))).toBe(true)
    expect(outcomeOf(requireRoom(filled(1_999), "more"))).toMatchObject({
      message: expect.stringContaining("2000 messages")
    })
  })

  it("is 8,388,608 characters of questions, answers, reasoning and what tools were given and gave", () => {
    const call = { id: "c", name: "write_artifact", arguments: half, result: half, isError: false }
    const full = [message(1, "assistant", 0, { steps: [{ at: 0, calls: [call] }] })]
    expect(Either.isRight(requireRoom(full, undefined))).toBe(true)
    expect(Either.isLeft(requireRoom(full, "a"))).toBe(true)
    expect(Either.isRight(requireRoom([message(1, "user", 0, { content: half, reasoning: half })], ""))).toBe(true)
    expect(Either.isLeft(requireRoom([message(1, "user", 0, { content: half, reasoning: half })], "a"))).toBe(true)
  })
})
