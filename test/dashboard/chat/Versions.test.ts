import { describe, expect, it } from "vitest"
import type { Message } from "../../../src/dashboard/pages/chat/conversation.ts"
import { exchangesOf, shownOf } from "../../../src/dashboard/pages/chat/versions.ts"

/** A message whose versions were begun at these seconds. */
const written = (role: Message["role"], position: number, seconds: ReadonlyArray<number>): Message => {
  const versions = seconds.map((second) => ({
    id: `00000000-0000-7000-8000-${position}${`${second}`.padStart(11, "0")}`,
    content: `${role} ${second}`,
    reasoning: "",
    status: "complete" as const,
    created_at: new Date(second * 1_000).toISOString(),
    model_requested: null,
    model_used: null,
    request_ids: [],
    finish_reason: null,
    error: null,
    cost: null
  }))
  const current = versions.pop()
  if (current === undefined) throw new Error("a message has a version")
  return { ...current, role, position, images: [], artifact_events: [], versions }
}

describe("the versions of a question and its answer", () => {
  const question = written("user", 0, [10, 30])
  const answer = written("assistant", 1, [10, 20, 30])

  it("are shown of the same time, the last answer where a question is chosen", () => {
    expect(shownOf(question, answer, undefined)).toEqual({ question: 1, answer: 2 })
    const byAnswer = [0, 1, 2].map((index) => shownOf(question, answer, { role: "assistant", index }))
    expect(byAnswer).toEqual([
      { question: 0, answer: 0 },
      { question: 0, answer: 1 },
      { question: 1, answer: 2 }
    ])
    const byQuestion = [0, 1].map((index) => shownOf(question, answer, { role: "user", index }))
    expect(byQuestion).toEqual([
      { question: 0, answer: 1 },
      { question: 1, answer: 2 }
    ])
  })

  it("are shown without an answer where a question had none, as at the end of a fork", () => {
    const later = written("assistant", 1, [30])
    expect(shownOf(question, later, { role: "user", index: 0 })).toEqual({ question: 0, answer: undefined })
    expect(shownOf(question, later, { role: "user", index: 1 })).toEqual({ question: 1, answer: 0 })
    expect(shownOf(question, undefined, { role: "user", index: 0 })).toEqual({ question: 0, answer: undefined })
  })

  it("are of the question before each answer", () => {
    const unanswered = written("user", 2, [40])
    const [last, reply] = [written("user", 3, [50]), written("assistant", 4, [50])]
    expect(exchangesOf([question, answer, unanswered, last, reply])).toEqual([
      { question, answer },
      { question: unanswered, answer: undefined },
      { question: last, answer: reply }
    ])
  })
})
