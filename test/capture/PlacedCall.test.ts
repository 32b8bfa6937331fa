import { describe, expect, it } from "vitest"
import type { Taken } from "../../src/capture/CaptureQueue.ts"
import type { CaptureWindow } from "../../src/capture/CaptureWindow.ts"
import { chainOf, jobOf, type PlacedCall, sampleOf } from "../../src/capture/PlacedCall.ts"
import { cost } from "../../src/domain/Call.ts"
import { finishEvent, textEvent } from "../../src/domain/ChatEvent.ts"
import { record } from "../ledger/fixtures.ts"
import { observedCall, openWindow } from "./Observed.ts"

const placed = (window: Partial<CaptureWindow> = {}, taken: Partial<Taken> = {}): PlacedCall => ({
  taken: { call: observedCall(), record: record(), selected: undefined, events: [], bytes: 0, ...taken },
  window: openWindow(window),
  day: "2026-02-10",
  dayKey: { key: Buffer.alloc(32, 1), sealed: Buffer.alloc(60, 2) },
  endUser: "e0"
})

const sealed = { id: "x", base: "b", shared: [], sealed: Buffer.from("s"), truncated: false, mayFlow: true }

it("a sample may go to other models only where its window and all of its content allow it", () => {
  for (const [replayAllowed, mayFlow, flowAuthorized] of [
    [true, true, true],
    [true, false, false],
    [false, true, false]
  ] as const) {
    expect(sampleOf(placed({ replayAllowed }), { ...sealed, mayFlow })).toMatchObject({ flowAuthorized })
  }
})

it("a sample has the times of its call and of its key", () => {
  const startedAtMillis = Date.UTC(2026, 1, 11, 3)
  const made = sampleOf(placed({ retentionDays: 2 }, { record: record({ startedAtMillis }) }), sealed)
  expect(made).toMatchObject({
    capturedAt: new Date(startedAtMillis),
    day: "2026-02-10",
    expiresAt: new Date(Date.UTC(2026, 1, 13)),
    endUser: "e0",
    base: "b"
  })
})

it("nothing is written of a call that could not be sealed", () => {
  expect(sampleOf(placed(), { id: "x", error: "SyntaxError" })).toBeUndefined()
})

it("samples refer to each other only within one window, conversation, day and key", () => {
  const one = placed()
  const { projectId } = one.window
  const others: ReadonlyArray<PlacedCall> = [
    placed({ projectId, configVersion: 2 }),
    placed({ projectId }, { record: record({ conversation: "ff".repeat(16) }) }),
    { ...one, day: "2026-02-11" },
    { ...one, dayKey: { ...one.dayKey, sealed: Buffer.alloc(60, 3) } }
  ]
  expect(chainOf(placed({ projectId }))).toBe(chainOf(one))
  expect(new Set([one, ...others].map(chainOf)).size).toBe(5)
})

it("the bytes of a chat completion are sealed where they are at hand, else what was read of the request", () => {
  const body = Buffer.from("{}")
  const call = observedCall()
  const prompt = { messages: call.request.messages, tools: call.request.tools }
  const jobWith = (fields: Partial<typeof call>) => jobOf(placed({}, { call: { ...call, ...fields } }))
  expect(jobWith({ body })).toMatchObject({ body, prompt: undefined })
  expect(jobWith({})).toMatchObject({ body: undefined, prompt })
  expect(jobWith({ body, endpoint: "responses" })).toMatchObject({ body: undefined, prompt })
})

describe("where only fingerprints are kept", () => {
  const secret = "Jane Roe"
  const schema = (description: string) => ({
    type: "json_schema",
    json_schema: { name: "x", schema: { type: "object", description } }
  })
  const fields = {
    stop: [secret, "\n"],
    response_format: schema(secret),
    tools: [{ type: "function", function: { name: "look_up", description: secret, parameters: { type: "object" } } }],
    tool_choice: { type: "function", function: { name: "look_up" } }
  }
  const error = { code: "invalid_value", message: `Invalid content: '${secret}'` }
  const factsWith = (more: object, window: Partial<CaptureWindow> = { content: "fingerprint" }) => {
    const attempts = record().attempts.map((one) => ({ ...one, status: "error" as const, error }))
    const call = observedCall({ ...fields, ...more })
    return jobOf(placed(window, { call, record: record({ status: "error", error, attempts }) })).facts
  }

  it("no text of parameters and errors is", () => {
    const facts = factsWith({})
    expect(JSON.stringify(facts)).not.toContain(secret)
    expect(facts).toMatchObject({
      error: { code: "invalid_value", message: null },
      attempts: [{ error: { code: "invalid_value", message: null } }],
      params: { stopCount: 2, responseFormat: { type: "json_schema" }, toolChoice: { type: "function" } }
    })
    expect(factsWith({}, {})).toMatchObject({ error, attempts: [{ error }], params: { stop: fields.stop } })
  })

  it("requests that differ in such text alone stay different", () => {
    const params = (more: object) => JSON.stringify(factsWith(more)["params"])
    expect(params({})).toBe(params({}))
    const others = [
      { stop: ["other", "\n"] },
      { response_format: schema("other") },
      { tools: [], tool_choice: undefined },
      { stop: undefined, response_format: undefined, tool_choice: "required" }
    ]
    expect(new Set([{}, ...others].map(params)).size).toBe(5)
    expect(params(others[3] ?? {})).not.toContain("textId")
  })
})

it("a sample says whether the last attempt's provider has reported usage, whatever the basis of the cost", () => {
  const use = { startedAtMillis: 0, usage: null, dropped: [] }
  const isUsageReported = (...reported: ReadonlyArray<boolean>) => {
    const attemptUses = reported.map((isReported) => ({ ...use, isReported }))
    return jobOf(placed({}, { record: record({ attemptUses, cost: cost(7, "estimated") }) })).facts["isUsageReported"]
  }
  expect(isUsageReported(true)).toBe(true)
  expect(isUsageReported(true, false)).toBe(false)
  expect(isUsageReported(false, true)).toBe(true)
  expect(isUsageReported()).toBe(false)
})

it("a sample says which of its marks the last attempt was sent", () => {
  const maxMark = (...dropped: ReadonlyArray<ReadonlyArray<string>>) => {
    const attemptUses = dropped.map((names) => ({ startedAtMillis: 0, usage: null, isReported: false, dropped: names }))
    return jobOf(placed({}, { record: record({ attemptUses }) })).facts["maxMark"]
  }
  expect(maxMark(["cache_control"], [])).toBe("1h")
  expect(maxMark([], ["cache_control.ttl"])).toBe("5m")
  expect(maxMark([], ["cache_control"])).toBeNull()
})

it("of a response that was cut off, what has come is sealed, and of none nothing", () => {
  const answerOf = (...events: Taken["events"]) => jobOf(placed({}, { events })).answer
  const finishOf = (...events: Taken["events"]) => jobOf(placed({}, { events })).facts
  expect(answerOf()).toBeNull()
  expect(answerOf(textEvent("Hel"), textEvent("lo"))).toMatchObject({ text: "Hello" })
  expect(finishOf(textEvent("Hello"))).toMatchObject({ finish: null })
  expect(answerOf(textEvent("Hello"), finishEvent("length"))).toMatchObject({ text: "Hello" })
  expect(finishOf(textEvent("Hello"), finishEvent("length"))).toMatchObject({ finish: "length" })
})
