import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { type Change, ChangeNotifications, type ChangeNotificationsShape } from "../../src/sql/ChangeNotifications.ts"
import * as RowCache from "../../src/sql/RowCache.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"

interface Row {
  readonly id: string
  readonly text: string
}

/** A cache over a table in memory whose every question is counted and can be held up. */
const setUp = Effect.fnUntraced(function* (validMillis = Number.POSITIVE_INFINITY) {
  const timers = VirtualTimers.make()
  const table = new Map<string, Row>([
    ["a", { id: "a", text: "first" }],
    ["b", { id: "b", text: "first" }]
  ])
  const asked: Array<string> = []
  const listeners = new Set<(change: Change | undefined) => void>()
  const world = {
    failing: false,
    answer: Effect.void as Effect.Effect<void>,
    heardAtMillis: Number.NEGATIVE_INFINITY
  }
  const changes: ChangeNotificationsShape = {
    commit: () => Effect.dieMessage("a cache writes nothing"),
    commitOn: () => () => Effect.dieMessage("a cache writes nothing"),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    heardAtMillis: () => world.heardAtMillis
  }
  const cache = yield* RowCache.make<Row, undefined>({
    load: (key) =>
      Effect.suspend(() => {
        asked.push(key)
        const row = table.get(key)
        return world.failing ? Effect.fail(new StoreUnavailable({ cause: "down" })) : Effect.as(world.answer, row)
      }),
    absent: undefined,
    kinds: ["key"],
    concerns: (change, row) => change.id === row.id,
    validMillis: () => validMillis
  }).pipe(Effect.provideService(ChangeNotifications, changes), Effect.provideService(Timers, timers))
  const publish = (change: Change | undefined) => {
    for (const listener of listeners) listener(change)
  }
  return { timers, table, asked, world, cache, publish, listeners }
})

/** Lets the other fibers run until it is so. */
const until = (isSo: () => boolean) => Effect.repeat(Effect.yieldNow(), { until: () => isSo(), times: 100_000 })

it.scoped("a row is believed for five seconds and no longer", () =>
  Effect.gen(function* () {
    const { asked, cache, table, timers } = yield* setUp()
    expect((yield* cache.get("a"))?.text).toBe("first")
    table.set("a", { id: "a", text: "second" })
    timers.advance(4_999)
    expect((yield* cache.get("a"))?.text).toBe("first")
    expect(asked).toEqual(["a"])
    timers.advance(1)
    expect((yield* cache.get("a"))?.text).toBe("second")
    expect(asked).toEqual(["a", "a"])
  })
)

it.scoped("a row is believed for a minute where changes are heard, and for five seconds from when they last were", () =>
  Effect.gen(function* () {
    const { asked, cache, timers, world } = yield* setUp()
    const heard = () => {
      world.heardAtMillis = timers.now()
    }
    yield* cache.get("a")
    timers.advance(4_000)
    heard()
    timers.advance(4_999)
    yield* cache.get("a")
    expect(cache.peek("a")?.text).toBe("first")
    expect(asked).toEqual(["a"])
    timers.advance(1)
    expect(cache.peek("a")).toBeUndefined()
    yield* cache.get("a")
    expect(asked).toEqual(["a", "a"])
    for (let seconds = 0; seconds < 59; seconds++) {
      timers.advance(1_000)
      heard()
    }
    yield* cache.get("a")
    expect(asked).toEqual(["a", "a"])
    timers.advance(1_000)
    heard()
    yield* cache.get("a")
    expect(asked).toEqual(["a", "a", "a"])
  })
)

it.scoped("an effect that is run again looks at the cache again", () =>
  Effect.gen(function* () {
    const { cache, publish, table } = yield* setUp()
    yield* cache.get("a")
    const read = cache.get("a")
    expect((yield* read)?.text).toBe("first")
    table.set("a", { id: "a", text: "second" })
    publish({ kind: "key", id: "a" })
    expect((yield* read)?.text).toBe("second")
  })
)

it.scoped("the five seconds count from the question, however late the answer", () =>
  Effect.gen(function* () {
    const { asked, cache, timers, world } = yield* setUp()
    const answer = yield* Deferred.make<void>()
    world.answer = Deferred.await(answer)
    const first = yield* Effect.fork(cache.get("a"))
    yield* until(() => asked.length === 1)
    timers.advance(3_000)
    yield* Deferred.succeed(answer, undefined)
    yield* Fiber.join(first)
    timers.advance(2_000)
    yield* cache.get("a")
    expect(asked).toEqual(["a", "a"])
  })
)

it.scoped("a row that ends earlier is not believed beyond its end", () =>
  Effect.gen(function* () {
    const { asked, cache, timers, world } = yield* setUp(700)
    yield* cache.get("a")
    timers.advance(699)
    world.heardAtMillis = timers.now()
    yield* cache.get("a")
    expect(asked).toEqual(["a"])
    timers.advance(1)
    yield* cache.get("a")
    expect(asked).toEqual(["a", "a"])
  })
)

it.scoped("that there is no row is believed for one second", () =>
  Effect.gen(function* () {
    const { asked, cache, timers } = yield* setUp()
    expect(yield* cache.get("none")).toBeUndefined()
    timers.advance(999)
    expect(yield* cache.get("none")).toBeUndefined()
    expect(asked).toEqual(["none"])
    timers.advance(1)
    yield* cache.get("none")
    expect(asked).toEqual(["none", "none"])
  })
)

it.scoped("a change is seen at once, and only what it concerns is asked for again", () =>
  Effect.gen(function* () {
    const { asked, cache, publish } = yield* setUp()
    yield* cache.get("a")
    yield* cache.get("b")
    publish({ kind: "project", id: "a" })
    yield* cache.get("a")
    expect(asked).toEqual(["a", "b"])
    publish({ kind: "key", id: "a" })
    yield* cache.get("a")
    yield* cache.get("b")
    expect(asked).toEqual(["a", "b", "a"])
  })
)

it.scoped("a new row is found at once, although it was missing before", () =>
  Effect.gen(function* () {
    const { cache, publish, table } = yield* setUp()
    expect(yield* cache.get("c")).toBeUndefined()
    table.set("c", { id: "c", text: "new" })
    publish({ kind: "key", id: "c" })
    expect((yield* cache.get("c"))?.text).toBe("new")
  })
)

it.scoped("everything is asked for again when changes may have been missed", () =>
  Effect.gen(function* () {
    const { asked, cache, publish } = yield* setUp()
    yield* cache.get("a")
    yield* cache.get("none")
    publish(undefined)
    yield* cache.get("a")
    yield* cache.get("none")
    expect(asked).toEqual(["a", "none", "a", "none"])
  })
)

it.scoped("a question under way during a change is not shared with those who ask after it, nor remembered", () =>
  Effect.gen(function* () {
    const { asked, cache, publish, table, world } = yield* setUp()
    const answer = yield* Deferred.make<void>()
    world.answer = Deferred.await(answer)
    const before = yield* Effect.fork(cache.get("a"))
    yield* until(() => asked.length === 1)
    table.set("a", { id: "a", text: "second" })
    publish({ kind: "key", id: "a" })
    world.answer = Effect.void
    expect((yield* cache.get("a"))?.text).toBe("second")
    yield* Deferred.succeed(answer, undefined)
    expect((yield* Fiber.join(before))?.text).toBe("first")
    expect((yield* cache.get("a"))?.text).toBe("second")
    expect(asked).toEqual(["a", "a"])
  })
)

it.scoped("a hundred at once share one question, and outlive the one who asked it", () =>
  Effect.gen(function* () {
    const { asked, cache, world } = yield* setUp()
    const answer = yield* Deferred.make<void>()
    world.answer = Deferred.await(answer)
    const first = yield* Effect.fork(cache.get("a"))
    yield* until(() => asked.length === 1)
    let askers = 0
    const ask = Effect.suspend(() => {
      askers++
      return cache.get("a")
    })
    const others = yield* Effect.forkAll(Array.from({ length: 99 }, () => ask))
    yield* until(() => askers === 99)
    yield* Fiber.interrupt(first)
    yield* Deferred.succeed(answer, undefined)
    const found = yield* Fiber.join(others)
    expect(found.map((row) => row?.text)).toEqual(Array.from({ length: 99 }, () => "first"))
    expect(asked).toEqual(["a"])
  })
)

it.scoped("a failure reaches all who wait, and the next one asks anew", () =>
  Effect.gen(function* () {
    const { asked, cache, world } = yield* setUp()
    world.failing = true
    const failures = yield* Effect.all([Effect.flip(cache.get("a")), Effect.flip(cache.get("a"))], {
      concurrency: "unbounded"
    })
    expect(failures.map((error) => error._tag)).toEqual(["StoreUnavailable", "StoreUnavailable"])
    expect(asked).toEqual(["a"])
    world.failing = false
    expect((yield* cache.get("a"))?.text).toBe("first")
  })
)

it.scoped("a store that does not answer is unavailable after five seconds", () =>
  Effect.gen(function* () {
    const { cache, world } = yield* setUp()
    world.answer = Effect.never
    const waiting = yield* Effect.fork(Effect.flip(cache.get("a")))
    yield* TestClock.adjust(4_999)
    expect(waiting.unsafePoll()).toBeNull()
    yield* TestClock.adjust(1)
    expect((yield* Fiber.join(waiting))._tag).toBe("StoreUnavailable")
    world.answer = Effect.void
    expect((yield* cache.get("a"))?.text).toBe("first")
  })
)

it.scoped("at most a thousand questions run at once", () =>
  Effect.gen(function* () {
    const { asked, cache, world } = yield* setUp()
    const answer = yield* Deferred.make<void>()
    world.answer = Deferred.await(answer)
    const waiting = yield* Effect.forkAll(Array.from({ length: 1_000 }, (_, i) => cache.get(`none-${i}`)))
    yield* until(() => asked.length === 1_000)
    expect((yield* Effect.flip(cache.get("a")))._tag).toBe("StoreUnavailable")
    expect(asked.length).toBe(1_000)
    yield* Deferred.succeed(answer, undefined)
    yield* Fiber.join(waiting)
    expect((yield* cache.get("a"))?.text).toBe("first")
  })
)

it.scoped("unknown keys neither grow without bound nor push known ones out", () =>
  Effect.gen(function* () {
    const { asked, cache } = yield* setUp()
    yield* cache.get("a")
    for (let i = 0; i <= 10_000; i++) yield* cache.get(`none-${i}`)
    asked.length = 0
    yield* cache.get("a")
    yield* cache.get("none-10000")
    expect(asked).toEqual([])
    yield* cache.get("none-0")
    expect(asked).toEqual(["none-0"])
  })
)

it.effect("a closed cache listens no longer, and fails whoever waits or asks later, but interrupts nobody", () =>
  Effect.gen(function* () {
    const waiting = yield* Effect.scoped(
      Effect.gen(function* () {
        const { asked, cache, listeners, world } = yield* setUp()
        world.answer = Effect.never
        const fiber = yield* Effect.forkDaemon(Effect.flip(cache.get("a")))
        yield* until(() => asked.length === 1)
        return { cache, fiber, listeners }
      })
    )
    expect(waiting.listeners.size).toBe(0)
    expect((yield* Fiber.join(waiting.fiber))._tag).toBe("StoreUnavailable")
    expect((yield* Effect.flip(waiting.cache.get("b")))._tag).toBe("StoreUnavailable")
  })
)
