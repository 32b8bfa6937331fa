import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { microUsd } from "../../src/domain/Money.ts"
import {
  BatchFailed,
  type BatchRequest,
  type Ending,
  type LedgerStoreShape,
  type Verdict
} from "../../src/ledger/LedgerStore.ts"
import * as Writer from "../../src/ledger/Writer.ts"
import * as VirtualTimers from "../../src/testing/VirtualTimers.ts"
import { newCallId, option, record } from "./fixtures.ts"

const caller = {
  accountId: AccountId.make("00000000-0000-7000-8000-000000000001"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000002"),
  keyId: KeyId.make("00000000-0000-7000-8000-000000000003"),
  billingMode: "managed"
} as const

const request = (): BatchRequest => ({
  callId: newCallId(),
  extends: false,
  caller,
  requestedModel: "auto",
  options: [option(10)]
})

const ending = (): Ending => ({ callId: newCallId(), caller, state: "settled", actual: microUsd(5), record: record() })

const granted: Verdict = { _tag: "Granted", option: 0, amount: microUsd(10) }
const unreachable = new BatchFailed({ cause: "connection refused", refused: false, uncertain: false })
const refused = new BatchFailed({ cause: "invalid text", refused: true, uncertain: false })

interface Batch {
  readonly requests: ReadonlyArray<BatchRequest>
  readonly endings: ReadonlyArray<Ending>
}

type Apply = (batch: Batch) => Effect.Effect<ReadonlyArray<Verdict>, BatchFailed>
const grantsAll: Apply = ({ requests }) => Effect.succeed(requests.map(() => granted))

/** A writer on a store that the test plays, and on a clock that the test moves. */
const scripted = (first: Apply = grantsAll) =>
  Effect.gen(function* () {
    const timers = VirtualTimers.make()
    const batches: Array<Batch> = []
    const script = { apply: first }
    const store: LedgerStoreShape = {
      apply: (requests, endings) =>
        Effect.suspend(() => {
          batches.push({ requests, endings })
          return script.apply({ requests, endings })
        }),
      balance: () => Effect.dieMessage("not asked for"),
      audit: Effect.dieMessage("not asked for")
    }
    const told: Array<string> = []
    const reports = {
      failed: (cause: unknown) => told.push(String(cause)) > 0,
      written: () => {
        told.push("written")
      }
    }
    const scope = yield* Scope.make()
    const writer = yield* Writer.make(store, timers, reports).pipe(Scope.extend(scope))
    const advance = (millis: number) => Effect.sync(() => timers.advance(millis)).pipe(Effect.zipRight(quiet))
    const written = () => batches.flatMap((batch) => batch.endings.map((ended) => ended.callId))
    return { writer, batches, script, advance, written, scope, told }
  })

/** Lets every fiber that can run do so. */
const quiet = Effect.repeatN(Effect.yieldNow(), 50)

describe("the writer", () => {
  it.effect("tells of every batch whether it was written, and why not", () =>
    Effect.gen(function* () {
      const { writer, script, told } = yield* scripted()
      script.apply = () => Effect.fail(unreachable)
      yield* Effect.either(writer.request(request()))
      script.apply = grantsAll
      yield* writer.request(request())
      expect(told).toEqual(["connection refused", "written"])
    })
  )
})

describe("batches", () => {
  it.effect("an ending rides with the next request, in one statement", () =>
    Effect.gen(function* () {
      const { writer, batches } = yield* scripted()
      const ended = ending()
      writer.end(ended)
      yield* writer.request(request())
      expect(batches.map(({ requests, endings }) => [requests.length, endings])).toEqual([[1, [ended]]])
    })
  )

  it.effect("an ending alone waits ten milliseconds for company, no longer", () =>
    Effect.gen(function* () {
      const { writer, batches, advance } = yield* scripted()
      writer.end(ending())
      writer.end(ending())
      yield* advance(9)
      expect(batches).toEqual([])
      yield* advance(1)
      expect(batches.map(({ endings }) => endings.length)).toEqual([2])
    })
  )

  it.effect("what arrives while a statement runs waits for the next, at most 256 rows of it, in its order", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { writer, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const requests = Array.from({ length: 600 }, request)
      const fiber = yield* Effect.fork(
        Effect.forEach(requests, writer.request, { concurrency: "unbounded", discard: true })
      )
      yield* quiet
      expect(batches.length).toBe(1)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      expect(batches.map((batch) => batch.requests.length)).toEqual([256, 256, 88])
      expect(batches.flatMap((batch) => batch.requests)).toEqual(requests)
    })
  )

  it.effect("a second ending of a call that waits to be written is ignored", () =>
    Effect.gen(function* () {
      const { writer, batches } = yield* scripted()
      const ended = ending()
      writer.end(ended)
      writer.end({ ...ended, state: "cancelled" })
      yield* writer.flushed
      expect(batches.flatMap(({ endings }) => endings)).toEqual([ended])
    })
  )

  it.effect("flushed does not wait for company", () =>
    Effect.gen(function* () {
      const { writer, written } = yield* scripted()
      const ended = ending()
      writer.end(ended)
      yield* writer.flushed
      expect(written()).toEqual([ended.callId])
    })
  )

  it.effect("more requests than can be decided in time are refused at once", () =>
    Effect.gen(function* () {
      const { writer } = yield* scripted(() => Effect.never)
      yield* Effect.forkAll(Array.from({ length: 256 }, () => writer.request(request())))
      yield* quiet
      yield* Effect.forkAll(Array.from({ length: 4_096 }, () => writer.request(request())))
      yield* quiet
      const outcome = yield* Effect.either(writer.request(request()))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
    })
  )
})

describe("interruption", () => {
  it.effect("a request that is given up while its statement runs leaves no hold", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { writer, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const given = request()
      const fiber = yield* Effect.fork(writer.request(given))
      yield* quiet
      yield* Fiber.interrupt(fiber)
      yield* Deferred.succeed(gate, undefined)
      yield* quiet
      yield* writer.flushed
      expect(batches.flatMap(({ endings }) => endings)).toMatchObject([
        { callId: given.callId, state: "void", record: null }
      ])
    })
  )

  it.effect("a request that is given up before it was sent is never sent", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { writer, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const first = request()
      const running = yield* Effect.fork(writer.request(first))
      yield* quiet
      const waiting = yield* Effect.fork(writer.request(request()))
      yield* quiet
      yield* Fiber.interrupt(waiting)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      yield* quiet
      expect(batches).toEqual([{ requests: [first], endings: [] }])
    })
  )

  it.effect("a hold that was granted but never taken is given back", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { writer, written } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const given = request()
      const fiber = yield* Effect.fork(writer.request(given))
      yield* quiet
      // In one step: the verdict is on its way to the fiber when it is interrupted.
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.yieldNow()
      const exit = yield* Fiber.interrupt(fiber)
      yield* quiet
      yield* writer.flushed
      expect(Exit.isSuccess(exit) || written().includes(given.callId)).toBe(true)
      expect(Exit.isSuccess(exit) && written().includes(given.callId)).toBe(false)
    })
  )
})

describe("a store in trouble", () => {
  it.effect("fails requests at once and keeps endings until they are written", () =>
    Effect.gen(function* () {
      const { writer, script, advance, written } = yield* scripted(() => Effect.fail(unreachable))
      const ended = ending()
      writer.end(ended)
      const outcome = yield* Effect.either(writer.request(request()))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
      const flushed = yield* Effect.fork(writer.flushed)
      yield* advance(3_000)
      expect(yield* Fiber.poll(flushed)).toMatchObject({ _tag: "None" })
      script.apply = grantsAll
      yield* advance(1_000)
      yield* Fiber.join(flushed)
      expect(written().at(-1)).toBe(ended.callId)
    })
  )

  it.effect("serves requests while endings wait to be tried again", () =>
    Effect.gen(function* () {
      const { writer, script, batches, advance } = yield* scripted(() => Effect.fail(unreachable))
      writer.end(ending())
      yield* advance(10)
      script.apply = grantsAll
      yield* writer.request(request())
      expect(batches.at(-1)).toMatchObject({ endings: [] })
      yield* advance(50)
      expect(batches.at(-1)?.endings.length).toBe(1)
    })
  )

  it.effect("that may have granted before it failed is told that the holds are not wanted", () =>
    Effect.gen(function* () {
      const { writer, script, batches, advance } = yield* scripted(() =>
        Effect.fail(new BatchFailed({ cause: "connection reset", refused: false, uncertain: true }))
      )
      const lost = request()
      yield* Effect.either(writer.request(lost))
      script.apply = grantsAll
      yield* advance(10)
      expect(batches.at(-1)?.endings).toMatchObject([{ callId: lost.callId, state: "void", record: null }])
    })
  )

  it.effect("loses the log row, not the money, of an ending whose row is refused; all others are written whole", () =>
    Effect.gen(function* () {
      const all = Array.from({ length: 300 }, ending)
      const poisoned = all[137]?.callId
      const kept: Array<Ending> = []
      const { writer, advance } = yield* scripted((batch) => {
        if (batch.endings.some((ended) => ended.callId === poisoned && ended.record !== null))
          return Effect.fail(refused)
        kept.push(...batch.endings)
        return grantsAll(batch)
      })
      for (const ended of all) writer.end(ended)
      const outcomes: Array<boolean> = []
      for (let round = 0; round < 100; round++) {
        if (round >= 1) outcomes.push(Either.isRight(yield* Effect.either(writer.request(request()))))
        yield* advance(50)
      }
      expect(new Set(kept.map((ended) => ended.callId)).size).toBe(300)
      expect(kept.length).toBe(300)
      expect(kept.filter((ended) => ended.record === null).map((ended) => ended.callId)).toEqual([poisoned])
      expect(outcomes).not.toContain(false)
    })
  )

  it.effect("drops an ending that is refused in every form, and goes on", () =>
    Effect.gen(function* () {
      const all = Array.from({ length: 8 }, ending)
      const poisoned = all[0]?.callId
      const kept: Array<string> = []
      const { writer, advance } = yield* scripted((batch) => {
        if (batch.endings.some((ended) => ended.callId === poisoned)) return Effect.fail(refused)
        kept.push(...batch.endings.map((ended) => ended.callId))
        return grantsAll(batch)
      })
      for (const ended of all) writer.end(ended)
      const flushed = yield* Effect.fork(writer.flushed)
      for (let round = 0; round < 60; round++) yield* advance(50)
      yield* Fiber.join(flushed)
      expect(kept.sort()).toEqual(
        all
          .map((ended) => ended.callId)
          .filter((id) => id !== poisoned)
          .sort()
      )
    })
  )
})

describe("closing", () => {
  it.effect("waits for a request that came in the same turn", () =>
    Effect.gen(function* () {
      const { writer, scope } = yield* scripted((batch) => Effect.zipRight(quiet, grantsAll(batch)))
      const asking = Effect.runFork(writer.request(request()))
      yield* Scope.close(scope, Exit.void)
      expect(asking.unsafePoll()).not.toBeNull()
    })
  )

  it.effect("writes what is queued and refuses what is new", () =>
    Effect.gen(function* () {
      const { writer, written, scope } = yield* scripted()
      const all = Array.from({ length: 700 }, ending)
      for (const ended of all) writer.end(ended)
      yield* Scope.close(scope, Exit.void)
      expect(written()).toEqual(all.map((ended) => ended.callId))
      const outcome = yield* Effect.either(writer.request(request()))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
    })
  )

  it.effect("waits five seconds for a store that does not answer, no longer", () =>
    Effect.gen(function* () {
      const { writer, advance, scope } = yield* scripted(() => Effect.fail(unreachable))
      writer.end(ending())
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* quiet
      for (let millis = 0; millis < 4_900; millis += 100) yield* advance(100)
      expect(yield* Fiber.poll(closing)).toMatchObject({ _tag: "None" })
      yield* advance(100)
      yield* Fiber.join(closing)
    })
  )
})

describe("a database that does not answer", () => {
  it.effect("keeps nobody waiting for a second silence: who has queued behind it is told with the first", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void, BatchFailed>()
      const { advance, batches, script, writer } = yield* scripted(() => Effect.as(Deferred.await(gate), []))
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(Effect.either(writer.request(request()))))
      yield* quiet
      yield* advance(8_000)
      script.apply = grantsAll
      yield* Deferred.fail(gate, new BatchFailed({ cause: "no answer", refused: false, uncertain: true }))
      const ends = yield* Effect.forEach(fibers, Fiber.join)
      expect(ends.map((end) => Either.isLeft(end) && end.left._tag)).toEqual(ends.map(() => "StoreUnavailable"))
      // all that may follow is what gives the uncertain hold back
      expect(batches.slice(1).flatMap((batch) => batch.requests)).toEqual([])
      expect(Either.isRight(yield* Effect.either(writer.request(request())))).toBe(true)
    })
  )
})
