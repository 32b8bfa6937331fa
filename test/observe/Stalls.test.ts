import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { RequestId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import * as RequestRuntime from "../../src/http/server/RequestRuntime.ts"
import { snapshot } from "../../src/observe/Exposition.ts"
import * as Prometheus from "../../src/observe/Prometheus.ts"
import * as Stalls from "../../src/observe/Stalls.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { fromMessage, logTo } from "../support/LogLines.ts"

const requestId = RequestId.make("01a2004a-90c3-719e-ab64-3225e1e22c0d")

/** Holds the event loop until so much of the real clock has passed. */
const hold = (millis: number): void => {
  const until = performance.now() + millis
  while (performance.now() < until) {}
}

const counted = (step: string): number =>
  Number(
    new RegExp(`gateway_loop_stalls_total\\{step="${step}"\\} (\\d+)`).exec(Prometheus.render(snapshot()))?.[1] ?? 0
  )

const watched = Effect.gen(function* () {
  const timers = VirtualTimers.make()
  const lines: Array<string> = []
  const logger = logTo(lines, fromMessage)
  yield* Layer.build(Stalls.layer.pipe(Layer.provide(Layer.succeed(Timers, timers)), Layer.provide(logger)))
  return { lines, timers }
})

describe("a step that holds the event loop for more than 100 ms", () => {
  it.scopedLive("is counted and logged with its request, once in ten seconds", () =>
    Effect.gen(function* () {
      const { lines, timers } = yield* watched
      const before = counted("upstream data")
      for (let n = 0; n < 2; n++) expect(Stalls.timed(requestId, "upstream data", () => hold(110))).toBeUndefined()
      expect(counted("upstream data") - before).toBe(2)
      expect(lines.length).toBe(1)
      expect(lines[0]).toContain("the event loop was blocked")
      expect(lines[0]).toContain(`request_id=${requestId}`)
      expect(lines[0]).toContain(`step="upstream data"`)
      timers.advance(10_000)
      Stalls.timed(requestId, "upstream data", () => hold(110))
      expect(lines.filter((line) => line.includes("upstream data")).length).toBe(2)
    })
  )

  it.scopedLive("is told once, by the innermost step", () =>
    Effect.gen(function* () {
      const { lines } = yield* watched
      Stalls.timed(requestId, "outer", () => Stalls.timed(requestId, "inner", () => hold(110)))
      expect(lines.length).toBe(1)
      expect(lines[0]).toContain("step=inner")
    })
  )

  it.scopedLive("is told of a request's fiber in its first turn and in a later one, and not of its neighbours", () =>
    Effect.gen(function* () {
      const { lines } = yield* watched
      const { fork } = RequestRuntime.make(yield* Effect.runtime<never>())
      const later = yield* Deferred.make<void>()
      const other = RequestId.make("01a2004a-90c3-719e-ab64-000000000000")
      const neighbour = fork(other, Deferred.await(later))
      const slow = fork(
        requestId,
        Effect.zipRight(
          Deferred.await(later),
          Effect.sync(() => hold(110))
        )
      )
      fork(
        requestId,
        Effect.sync(() => hold(110))
      )
      yield* Deferred.succeed(later, undefined)
      yield* Fiber.join(slow)
      yield* Fiber.join(neighbour)
      // the task is timed when it has returned, which is after its fiber has told of its end
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      expect(lines.map((line) => /step=(\w+)/.exec(line)?.[1])).toEqual(["start", "fiber"])
      for (const line of lines) expect(line).toContain(`request_id=${requestId}`)
    })
  )

  it.scopedLive("is told without a request where no step explains it", () =>
    Effect.gen(function* () {
      const { lines, timers } = yield* watched
      // the delay is measured between two turns of the loop that the measuring timer has seen
      const turns = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      yield* turns
      hold(300)
      yield* turns
      timers.advance(1_000)
      expect(lines.length).toBe(1)
      expect(lines[0]).toContain("request_id=null step=unknown")
    })
  )
})
