import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as LookupBudget from "../../../src/identity/keys/LookupBudget.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"

const setUp = Effect.gen(function* () {
  const timers = VirtualTimers.make()
  const budget = yield* LookupBudget.make({ timers, maxRunning: 2, maxWaiting: 3, maxWaitMillis: 1_000 })
  const started: Array<number> = []
  const answer = yield* Deferred.make<void>()
  const lookup = (n: number) =>
    Effect.as(
      Effect.zipRight(
        Effect.sync(() => started.push(n)),
        Deferred.await(answer)
      ),
      n
    )
  const ask = (n: number) => Effect.fork(Effect.either(budget.run(lookup(n))))
  const turns = Effect.repeatN(Effect.yieldNow(), 20)
  return { timers, budget, started, answer, ask, turns }
})

it.effect("so many lookups run at once, so many wait in order, and the next is refused", () =>
  Effect.gen(function* () {
    const { answer, ask, started, turns } = yield* setUp
    const asked = yield* Effect.forEach([1, 2, 3, 4, 5, 6], ask)
    yield* turns
    expect(started).toEqual([1, 2])
    yield* Deferred.succeed(answer, undefined)
    const answers = yield* Fiber.join(Fiber.all(asked))
    expect(answers.map((answer) => (answer._tag === "Right" ? answer.right : answer.left.reason))).toEqual([
      1,
      2,
      3,
      4,
      5,
      "overloaded"
    ])
    expect(started).toEqual([1, 2, 3, 4, 5])
  })
)

it.effect("who has waited too long is refused and leaves the place to another", () =>
  Effect.gen(function* () {
    const { answer, ask, started, timers, turns } = yield* setUp
    const asked = yield* Effect.forEach([1, 2, 3, 4, 5], ask)
    yield* turns
    timers.advance(1_000)
    for (const fiber of asked.slice(2)) expect((yield* Fiber.join(fiber))._tag).toBe("Left")
    const later = yield* ask(6)
    yield* turns
    yield* Deferred.succeed(answer, undefined)
    expect((yield* Fiber.join(later))._tag).toBe("Right")
    expect(started).toEqual([1, 2, 6])
    expect(timers.pending()).toBe(0)
  })
)

it.effect("an asker who leaves gives up the place in the queue, but a lookup that runs still counts", () =>
  Effect.gen(function* () {
    const { answer, ask, started, turns } = yield* setUp
    const [first, , third] = yield* Effect.forEach([1, 2, 3], ask)
    yield* turns
    if (first !== undefined) yield* Fiber.interrupt(first)
    if (third !== undefined) yield* Fiber.interrupt(third)
    const fourth = yield* ask(4)
    yield* turns
    expect(started).toEqual([1, 2])
    yield* Deferred.succeed(answer, undefined)
    expect((yield* Fiber.join(fourth))._tag).toBe("Right")
    expect(started).toEqual([1, 2, 4])
  })
)
