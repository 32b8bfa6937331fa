import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as CaptureLoss from "../../src/capture/CaptureLoss.ts"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { VirtualTimers } from "../../src/testing/index.ts"
import { quiet } from "../gateway/virtualTime.ts"

const losses = Effect.gen(function* () {
  const lines: Array<Record<string, unknown>> = []
  const logger = Logger.make(({ annotations, message }) => {
    lines.push({ message: String(message), ...Object.fromEntries(HashMap.toEntries(annotations)) })
  })
  const timers = VirtualTimers.make()
  const loss = yield* CaptureLoss.make.pipe(
    Effect.provide(Layer.merge(Layer.succeed(Timers, timers), Logger.replace(Logger.defaultLogger, logger)))
  )
  return { loss, lines, timers }
})

it.effect("a loss that the operator can end is one line a minute, which says why, how many calls, and what to do", () =>
  Effect.gen(function* () {
    const { lines, loss, timers } = yield* losses
    for (let ended = 0; ended < 100; ended++) loss.lost("queue_full")
    loss.lost("sealing_unavailable", 3)
    yield* quiet
    expect(lines).toEqual([
      {
        message: "calls were not captured",
        reason: "queue_full",
        amount: 1,
        action: expect.stringContaining("WORKERS")
      },
      {
        message: "calls were not captured",
        reason: "sealing_unavailable",
        amount: 3,
        action: expect.stringContaining("GATEWAY_MASTER_KEY")
      }
    ])
    timers.advance(60_000)
    yield* quiet
    expect(lines.slice(2)).toEqual([expect.objectContaining({ reason: "queue_full", amount: 99 })])
    timers.advance(120_000)
    loss.lost("queue_full")
    yield* quiet
    expect(lines.slice(3)).toEqual([expect.objectContaining({ reason: "queue_full", amount: 1 })])
  })
)

it.effect("what a project has chosen is no loss that the operator hears of", () =>
  Effect.gen(function* () {
    const { lines, loss, timers } = yield* losses
    for (const reason of ["store_false", "window_closed", "erased", "not_among_kept", "conversation_full"] as const) {
      loss.lost(reason)
    }
    loss.lost("queue_full", 0)
    timers.advance(60_000)
    yield* quiet
    expect(lines).toEqual([])
  })
)

it.effect("what fails is lost, with the kind of the error and nothing that it holds", () =>
  Effect.gen(function* () {
    const { lines, loss } = yield* losses
    yield* loss.losing(() => 2, new StoreUnavailable({ cause: "a secret" }))
    yield* loss.losing(() => 5, Effect.die(new TypeError("a secret")))
    yield* quiet
    expect(lines).toMatchObject([
      { reason: "store_unavailable", amount: 2, kind: "StoreUnavailable" },
      { reason: "sealing_failed", amount: 5, kind: "TypeError" }
    ])
    expect(JSON.stringify(lines)).not.toContain("a secret")
  })
)
