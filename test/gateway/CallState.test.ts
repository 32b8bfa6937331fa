import { expect, it } from "@effect/vitest"
import { describe } from "vitest"
import { type CallStatus, cost, noCost } from "../../src/domain/Call.ts"
import { combine } from "../../src/domain/CallObserver.ts"
import { type Candidate, candidatesFrom } from "../../src/domain/Candidate.ts"
import type { ChatEvent } from "../../src/domain/ChatEvent.ts"
import { plainTerms } from "../../src/domain/Prices.ts"
import { ProviderError } from "../../src/domain/ProviderError.ts"
import { usage } from "../../src/domain/Usage.ts"
import type { Admitted } from "../../src/gateway/Admission.ts"
import { Call } from "../../src/gateway/Call.ts"
import * as CallState from "../../src/gateway/CallState.ts"
import { HoldOptions } from "../../src/gateway/HoldOptions.ts"
import { settlementOf } from "../../src/gateway/Settlement.ts"
import { microUsd } from "../../src/index.ts"
import type { Hold } from "../../src/ledger/Ledger.ts"
import { featuresOf } from "../../src/routing/RequestFeatures.ts"
import { TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request, requestId } from "../provider/protocols/calls.ts"

const candidate: Candidate = {
  model: testModel("one/m"),
  quality: 0.5,
  expectedCost: microUsd(10),
  score: 0.5,
  effort: undefined,
  dropped: [],
  altered: [],
  notes: [],
  terms: plainTerms
}

const output: CallState.OutputLimit = { maxTokens: 4_096, fullTokens: 4_096, isUnaffordable: false }

const measure = {
  utf8Bytes: 100,
  estimatedTokens: 30,
  highTokens: 30,
  images: 0,
  files: 0,
  furtherPages: 0,
  audioTokens: 0
}

const admitted: Admitted = {
  requestId,
  caller: TestGateway.testCaller,
  request: request(),
  endpoint: "chat",
  clientRequestId: null,
  origin: "user",
  body: undefined,
  startedAtMillis: 0,
  measure,
  configuration: null,
  allowed: {
    layers: [],
    alpha: 0.5,
    fallbackEnabled: true,
    explorationShare: 0,
    routingConfig: null,
    policyVersion: 1
  },
  ranked: {
    candidates: candidatesFrom([candidate]),
    models: [candidate.model.id],
    highestQuality: 0,
    reason: "only_candidate",
    pinned: false,
    fallbackEnabled: true,
    excluded: {},
    features: featuresOf(request(), false, 30, []),
    propensity: 1,
    qualityVersion: null,
    resting: []
  },
  place: { own: 1, affinity: undefined },
  holdOptions: new HoldOptions(measure, request(), candidatesFrom([candidate])),
  release: () => {}
}

const hold: Hold = {
  callId: requestId,
  caller: TestGateway.testCaller,
  option: 0,
  amount: microUsd(1_000),
  room: microUsd(0)
}
const start = CallState.held(admitted, hold)
const error = new ProviderError({ providerId: "one", reason: { _tag: "ServerError", status: 500 } })
const callError = { code: "internal_error", message: "" }

/** Every step, each applied at the time that it is given. */
const steps: ReadonlyArray<(state: CallState.CallState, now: number) => CallState.CallState> = [
  (state, now) => CallState.attemptStarted(state, CallState.attemptOf(candidate, output, now)),
  (state, now) => CallState.attemptFailed(state, error, now),
  (state, now) => CallState.contentReceived(state, now),
  (state, now) =>
    CallState.completed(state, CallState.runningAttempt(state) ?? CallState.attemptOf(candidate, output, now), now),
  (state, now) => CallState.failed(state, { status: "error", isBilled: true }, callError, now),
  (state, now) => CallState.limited(state, "timeout", callError, now),
  (state, now) => CallState.cancelled(state, now)
]

/** The state after every sequence of so many steps or fewer. */
const statesWithin = (length: number): ReadonlyArray<CallState.CallState> => {
  if (length === 0) return [start]
  const before = statesWithin(length - 1)
  return [...before, ...before.flatMap((state) => steps.map((step) => step(state, length)))]
}

/** Enough to start an attempt, let it fail, start another one, show content, and end. */
const states = statesWithin(4)
const now = 10

describe("The state of a call, whatever steps are taken in whatever order", () => {
  it("the first ending of a call is final", () => {
    const ended = states.filter(CallState.isEnded)
    expect(ended.length).toBeGreaterThan(100)
    for (const state of ended) for (const step of steps) expect(step(state, now)).toBe(state)
  })

  it("attempts that are over stay recorded, and one that runs goes on until it is recorded", () => {
    for (const before of states) {
      const running = CallState.runningAttempt(before)
      for (const step of steps) {
        const next = step(before, now)
        expect(next.attempts.slice(0, before.attempts.length)).toEqual(before.attempts)
        if (running !== undefined && CallState.runningAttempt(next) !== running) {
          expect(next.attempts).toHaveLength(before.attempts.length + 1)
        }
      }
    }
  })

  it("no attempt follows once content has reached the client", () => {
    const bound = states.filter(({ firstContentAtMillis }) => firstContentAtMillis !== null)
    expect(bound.length).toBeGreaterThan(10)
    for (const state of bound) {
      for (const step of steps) {
        expect(["Streaming", "Complete", "Failed", "Cancelled"]).toContain(step(state, now).phase._tag)
      }
    }
  })

  it("a call that a limit of the gateway ends is settled like a cancelled one, and each for at most what is held, with the error and the usage that belong to its status", () => {
    const settlementStates: Readonly<Record<CallStatus, string>> = {
      success: "settled",
      cancelled: "cancelled",
      error: "void",
      timeout: "cancelled"
    }
    for (const last of states) {
      const { actual, record, state } = settlementOf(last, now)
      const hasFailed = record.status === "error" || record.status === "timeout"
      expect(state).toBe(settlementStates[record.status])
      expect(record.error).toEqual(hasFailed ? callError : null)
      expect(record.cost.amount_microusd).toBeLessThanOrEqual(1_000)
      if (record.status === "error") expect({ actual, cost: record.cost }).toEqual({ actual: 0, cost: noCost })
      if (record.status !== "success" && actual === 0) expect(record.cost).toEqual(noCost)
      expect(record.usage !== null).toBe(record.status === "success" || record.cost.amount_microusd > 0)
      const isRunning = CallState.runningAttempt(last) !== undefined
      expect(record.attempts).toHaveLength(last.attempts.length + (isRunning ? 1 : 0))
      expect(record.attempts.filter(({ status }) => status === "success")).toHaveLength(
        record.status === "success" ? 1 : 0
      )
    }
  })
})

it("an attempt begins with an empty tally: what the one before has streamed is not charged", () => {
  const first = CallState.attemptOf(candidate, output, 0)
  first.tally.add({ _tag: "Text", text: "x".repeat(4_000) })
  const second = CallState.attemptOf(candidate, output, 10)
  const state = CallState.attemptStarted(
    CallState.attemptFailed(CallState.attemptStarted(start, first), error, 5),
    second
  )
  expect(CallState.usageOf(state, second).outputTokens).toBe(0)
})

describe("What a call is charged", () => {
  const reported: ChatEvent = { _tag: "Usage", usage: usage({ inputTokens: 50, outputTokens: 2 }) }
  const finish: ChatEvent = { _tag: "Finish", reason: "stop", native: "stop" }
  /** An attempt that received these events, at a provider that does not charge for what is aborted. */
  const receiving = (events: ReadonlyArray<ChatEvent>) => {
    const model = testModel("one/m", { billsAbortedCalls: false })
    const attempt = CallState.attemptOf({ ...candidate, model }, output, 1)
    for (const event of events) attempt.tally.add(event)
    return { attempt, state: CallState.attemptStarted(start, attempt) }
  }
  const text: ChatEvent = { _tag: "Text", text: "some words" }
  const recordOf = (state: CallState.CallState) => settlementOf(state, now).record

  it("is the usage of a complete response, also of one without content", () => {
    const { attempt, state } = receiving([reported, finish])
    expect(recordOf(CallState.completed(state, attempt, 2)).cost).toEqual(cost(58, "charged"))
  })

  it("is told apart by whether the provider has reported it, whoever pays: not where all of it is estimated, or the report is not believed", () => {
    const beyond: ChatEvent = { _tag: "Usage", usage: usage({ outputTokens: output.maxTokens + 1 }) }
    const cases: ReadonlyArray<readonly [events: ReadonlyArray<ChatEvent>, isReported: boolean]> = [
      [[reported, finish], true],
      [[reported, text, finish], true],
      [[text, finish], false],
      [[beyond, finish], false]
    ]
    for (const billingMode of ["managed", "byok"] as const) {
      for (const [events, isReported] of cases) {
        const { attempt, state } = receiving(events)
        const own = { ...state, admitted: { ...admitted, caller: { ...admitted.caller, billingMode } } }
        const { attemptUses } = recordOf(CallState.completed(own, attempt, 2))
        expect(attemptUses).toMatchObject([{ isReported }])
      }
    }
    const { state } = receiving([text, reported])
    expect(recordOf(CallState.cancelled(CallState.contentReceived(state, 2), 3)).attemptUses).toMatchObject([
      { isReported: true }
    ])
  })

  it("is what was streamed of a cancelled one, whether or not its provider charges for what is aborted", () => {
    const { state } = receiving([text, reported])
    const { cost: charged } = recordOf(CallState.cancelled(CallState.contentReceived(state, 2), 3))
    expect(charged).toEqual(cost(58, "estimated"))
  })

  it("is nothing where nothing was streamed and the provider charges for nothing: no estimate of it", () => {
    const { state } = receiving([])
    expect(recordOf(CallState.cancelled(state, 2)).cost).toEqual(noCost)
  })

  it("is the prompt of a request that was sent, and nothing of one that was not or was refused, for whatever reason it ends", () => {
    const endings: ReadonlyArray<(state: CallState.CallState) => CallState.CallState> = [
      (state) => CallState.cancelled(state, 2),
      (state) => CallState.limited(state, "timeout", callError, 2)
    ]
    for (const isUnbillable of [false, true]) {
      const attempt = CallState.attemptOf(candidate, output, 1)
      attempt.tally.isUnbillable = isUnbillable
      const state = CallState.attemptStarted(start, attempt)
      for (const ending of endings) {
        const { actual, record } = settlementOf(ending(state), now)
        expect(actual === 0).toBe(isUnbillable)
        expect(record.cost).toEqual(isUnbillable ? noCost : cost(actual, "estimated"))
      }
      const failed = CallState.failed(state, { status: "error", isBilled: true }, callError, 2)
      expect(failed.failedUsage[0] === null).toBe(isUnbillable)
    }
  })
})

describe("an upstream that a call takes over after its abort", () => {
  it("fails at once, as the one that was open then", () => {
    const call = new Call({ timers: VirtualTimers.make(), observer: combine([], () => {}) }, admitted, hold, false)
    const failed: Array<string> = []
    const upstream = (name: string) => ({ close: () => {}, fail: () => failed.push(name) })
    call.own(upstream("open"))
    call.abort({ _tag: "ServerError", status: 500 })
    call.disown()
    call.own(upstream("later"))
    expect(failed).toEqual(["open", "later"])
  })
})
