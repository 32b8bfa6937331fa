import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import type { ChatEvent } from "../../src/domain/ChatEvent.ts"
import { defaultTimeouts } from "../../src/domain/DefaultOptions.ts"
import { microUsd } from "../../src/domain/Money.ts"
import { plainTerms } from "../../src/domain/Prices.ts"
import { ProviderError } from "../../src/domain/ProviderError.ts"
import { type AttemptOptions, type End, type Opened, open, type Reader } from "../../src/gateway/Attempt.ts"
import { attemptOf } from "../../src/gateway/CallState.ts"
import type { Receiver, Upstream } from "../../src/provider/Provider.ts"
import { VirtualTimers } from "../../src/testing/index.ts"
import { call, model } from "../provider/protocols/calls.ts"
import { quiet } from "./virtualTime.ts"

const text = (value: string): ChatEvent => ({ _tag: "Text", text: value })
const stop: ChatEvent = { _tag: "Finish", reason: "stop", native: "stop" }
const served: ChatEvent = { _tag: "ResponseInfo", model: "served" }

/** An attempt whose provider sends what the test has it send; no call owns it. */
const opening = (until: AttemptOptions["until"] = "first-content") => {
  const timers = VirtualTimers.make()
  const log: Array<string> = []
  const upstream: Upstream = {
    pause: () => log.push("pause"),
    resume: () => log.push("resume"),
    close: () => log.push("close")
  }
  const receivers: Array<Receiver> = []
  const providers = {
    open: (_: unknown, receiver: Receiver) => {
      receivers.push(receiver)
      return upstream
    },
    takesCredentials: () => false,
    probe: () => Effect.succeed(null)
  }
  const opened = open(
    { providers, timers, closeFailed: (defect) => log.push(String(defect)) },
    { own: () => {} },
    {
      attempt: attemptOf(
        {
          model: call().model,
          quality: 0,
          expectedCost: microUsd(0),
          score: 0,
          effort: undefined,
          dropped: [],
          altered: [],
          notes: [],
          terms: plainTerms
        },
        { maxTokens: 100, fullTokens: 100, isUnaffordable: false },
        0
      ),
      call: call(),
      deadlines: defaultTimeouts,
      endsAtMillis: timers.now() + 600_000,
      acceptEmpty: false,
      until
    }
  )
  const send = (use: (receiver: Receiver) => void): void => receivers.forEach(use)
  return { log, opened, send, timers }
}

/** Records what it receives; `event` in place of taking everything. */
const recordingReader = (event: (event: ChatEvent) => boolean = () => true) => {
  const events: Array<ChatEvent> = []
  const ends: Array<End["_tag"]> = []
  const waiting: Array<() => void> = []
  const reader: Reader = {
    event: (received) => {
      events.push(received)
      return event(received)
    },
    drained: (resume) => waiting.push(resume),
    end: (end) => ends.push(end._tag)
  }
  return { ends, events, reader, waiting }
}

/** The attempt once it is open: `before` is what its provider sends until then. */
const openAfter = ({ opened, send }: ReturnType<typeof opening>, before: (receiver: Receiver) => void) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(opened)
    yield* quiet
    send(before)
    return yield* Fiber.join(fiber)
  })

it.effect("interrupting an attempt while it opens closes its upstream and leaves no timer", () =>
  Effect.gen(function* () {
    const { log, opened, timers } = opening()
    const fiber = yield* Effect.fork(opened)
    yield* quiet
    expect(timers.pending()).toBe(1)
    yield* Fiber.interrupt(fiber)
    expect(new Set(log)).toEqual(new Set(["close"]))
    expect(timers.pending()).toBe(0)
  })
)

it.effect("a failure before the first content closes the upstream and is the attempt's error", () =>
  Effect.gen(function* () {
    const attempt = opening()
    const result = yield* Effect.either(openAfter(attempt, (receiver) => receiver.event(stop)))
    expect(Either.isLeft(result) && result.left.reason).toEqual({ _tag: "EmptyCompletion" })
    expect(new Set(attempt.log)).toEqual(new Set(["close"]))
    expect(attempt.timers.pending()).toBe(0)
  })
)

it.effect.each([
  { until: "first-content", millis: 15_000, reason: "FirstContentTimeout" },
  { until: "end", millis: 60_000, reason: "AnswerTimeout" }
] as const)("an attempt that opens until its $until fails with $reason after $millis ms", ({ millis, reason, until }) =>
  Effect.gen(function* () {
    const attempt = opening(until)
    const fiber = yield* Effect.fork(Effect.flip(attempt.opened))
    yield* quiet
    attempt.timers.advance(millis - 1)
    yield* quiet
    expect(attempt.log).toEqual([])
    attempt.timers.advance(1)
    expect((yield* Fiber.join(fiber)).reason).toEqual({ _tag: reason })
    expect(new Set(attempt.log)).toEqual(new Set(["close"]))
  })
)

describe("After the end of a response", () => {
  it.effect("later events are no part of the response, even if nothing has been relayed yet", () =>
    Effect.gen(function* () {
      const opened = yield* openAfter(opening("end"), (receiver) => {
        receiver.event(text("a"))
        receiver.event(stop)
        receiver.end()
        receiver.event(served)
      })
      const { ends, events, reader } = recordingReader()
      opened.relay(reader)
      expect(events).toEqual([text("a"), stop])
      expect(ends).toEqual(["Ended"])
    })
  )

  it.effect.each(["first-content", "end"] as const)(
    "a later failure does not replace the end, opened until its %s",
    (until) =>
      Effect.gen(function* () {
        const reason = { _tag: "BadResponse", detail: "no JSON" } as const
        const opened = yield* openAfter(opening(until), (receiver) => {
          receiver.event(text("a"))
          receiver.event(stop)
          receiver.end()
          receiver.fail(new ProviderError({ providerId: model().providerId, reason }))
        })
        const { ends, reader } = recordingReader()
        opened.relay(reader)
        expect(ends).toEqual(["Ended"])
      })
  )
})

describe("A reader", () => {
  it.effect("a reader that throws on an event of a response that has ended receives no end of a whole response", () =>
    Effect.gen(function* () {
      const opened = yield* openAfter(opening(), (receiver) => {
        receiver.event(text("a"))
        receiver.event(stop)
        receiver.end()
      })
      const { ends, reader } = recordingReader(() => {
        throw new Error("the reader is broken")
      })
      opened.relay(reader)
      expect(ends).toEqual(["Died"])
    })
  )

  const buffered = (receiver: Receiver): void => {
    receiver.event(served)
    receiver.event(text("a"))
    receiver.event(text("b"))
  }

  it.effect.each([
    { throwsAt: 1, received: [served] },
    { throwsAt: 3, received: [served, text("a"), text("b")] }
  ])("a reader that throws on buffered event $throwsAt receives one end and nothing else", ({ received, throwsAt }) =>
    Effect.gen(function* () {
      const attempt = opening()
      const opened: Opened = yield* openAfter(attempt, buffered)
      const { ends, events, reader } = recordingReader(() => {
        if (events.length === throwsAt) throw new Error("the reader is broken")
        return true
      })
      opened.relay(reader)
      expect(events).toEqual(received)
      expect(ends).toEqual(["Died"])
      expect(attempt.log.at(-1)).toBe("close")
      expect(attempt.timers.pending()).toBe(0)
    })
  )

  it.effect(
    "a reader that is slow from the first event receives what is buffered, is asked once to go on, and is waited for",
    () =>
      Effect.gen(function* () {
        const attempt = opening()
        const opened = yield* openAfter(attempt, buffered)
        const { ends, events, reader, waiting } = recordingReader(() => false)
        opened.relay(reader)
        expect(events).toEqual([served, text("a"), text("b")])
        expect(waiting).toHaveLength(1)
        expect(attempt.log).not.toContain("resume")
        // silence while the reader is slow is not the provider's
        attempt.timers.advance(300_000)
        expect(ends).toEqual([])
        waiting.forEach((resume) => {
          resume()
        })
        expect(attempt.log.at(-1)).toBe("resume")
        attempt.timers.advance(20_000)
        expect(ends).toEqual(["Failed"])
      })
  )
})
