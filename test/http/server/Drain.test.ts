import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/TestClock"
import { Drain, type DrainOptions } from "../../../src/http/server/Drain.ts"

/** A node that drains with `running` calls; what it has done, in order, and what it logs. */
const draining = (options: DrainOptions, running: number) =>
  Effect.gen(function* () {
    const steps: Array<string> = []
    const lines: Array<Record<string, unknown>> = []
    const logger = Logger.make(({ annotations, message }) => {
      lines.push({ message: String(message), ...Object.fromEntries(HashMap.toEntries(annotations)) })
    })
    const context = yield* Layer.build(
      Drain.layer(options).pipe(Layer.provide(Logger.replace(Logger.defaultLogger, logger)))
    )
    const drain = context.unsafeMap.get(Drain.key) as Drain["Type"]
    const leaves = Array.from({ length: running }, () => drain.enter())
    const says = () => [drain.isLeaving(), drain.closesConnections(), drain.isDraining()]
    const serving = says()
    const fiber = yield* Effect.fork(
      drain
        .drain({
          abort: Effect.sync(() => {
            steps.push("abort")
            for (const leave of leaves) leave()
          }),
          stopListening: Effect.sync(() => void steps.push("stop listening"))
        })
        .pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    )
    yield* TestClock.adjust(0)
    return { drain, fiber, leaves, lines, says, serving, steps }
  })

const seconds = (delay: number, grace: number): DrainOptions => ({
  delay: Duration.seconds(delay),
  grace: Duration.seconds(grace)
})

describe("a node that stops", () => {
  it.scoped("with a delay says that it is not ready and serves on, then closes its port and keeps connections", () =>
    Effect.gen(function* () {
      const { fiber, leaves, lines, says, serving, steps } = yield* draining(seconds(5, 60), 2)
      expect(serving).toEqual([false, false, false])
      expect(says()).toEqual([true, false, false])
      yield* TestClock.adjust("4999 millis")
      expect([says(), steps]).toEqual([[true, false, false], []])
      yield* TestClock.adjust("1 millis")
      expect([says(), steps]).toEqual([[true, true, false], ["stop listening"]])
      yield* TestClock.adjust("500 millis")
      for (const leave of leaves) leave()
      yield* Fiber.join(fiber)
      expect(steps).toEqual(["stop listening"])
      expect(lines).toEqual([
        { message: "leaving: not ready, and still serving", running: 2, delaySeconds: 5 },
        { message: "draining: running calls may end", running: 2, graceSeconds: 60 },
        { message: "drained", aborted: 0, millis: 0 }
      ])
    })
  )

  it.scoped("without a delay rejects new calls at once, on an open port", () =>
    Effect.gen(function* () {
      const { fiber, leaves, says, steps } = yield* draining({ grace: Duration.seconds(60) }, 1)
      expect(says()).toEqual([true, true, true])
      for (const leave of leaves) leave()
      yield* Fiber.join(fiber)
      expect(steps).toEqual([])
    })
  )

  it.scoped("aborts what still runs when the grace is over, and says how many calls", () =>
    Effect.gen(function* () {
      const { fiber, lines, says, steps } = yield* draining(seconds(5, 60), 3)
      yield* TestClock.adjust("65499 millis")
      expect([says(), steps]).toEqual([[true, true, false], ["stop listening"]])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
      expect([says(), steps]).toEqual([
        [true, true, true],
        ["stop listening", "abort"]
      ])
      expect(lines.at(-1)).toEqual({ message: "drained", aborted: 3, millis: 60_000 })
    })
  )

  it.scoped("that is forced ends delay and grace at once", () =>
    Effect.gen(function* () {
      const { drain, fiber, steps } = yield* draining(seconds(5, 60), 1)
      yield* drain.force
      yield* Fiber.join(fiber)
      expect(steps).toEqual(["stop listening", "abort"])
    })
  )
})
