import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"

describe("the virtual clock", () => {
  it("runs what is due in order of time, then of asking, and cancels exactly what is cancelled", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 20 }), fc.boolean()), { maxLength: 60 }), (asked) => {
        const timers = VirtualTimers.make(1000)
        const ran: Array<number> = []
        const cancels = asked.map(([millis], n) =>
          timers.after(millis, () => {
            expect(timers.now()).toBe(1000 + millis)
            ran.push(n)
          })
        )
        asked.forEach(([, cancelled], n) => {
          if (!cancelled) return
          cancels[n]?.()
          cancels[n]?.()
        })
        const kept = asked.flatMap(([millis, cancelled], n) => (cancelled ? [] : [{ millis, n }]))
        expect(timers.pending()).toBe(kept.length)
        timers.runAll()
        expect(ran).toEqual(kept.sort((a, b) => a.millis - b.millis || a.n - b.n).map(({ n }) => n))
        expect(timers.pending()).toBe(0)
      })
    )
  })

  it("advance runs what falls due on the way, also what is asked for on the way, and nothing later", () => {
    const timers = VirtualTimers.make(0)
    const ran: Array<string> = []
    timers.after(10, () => {
      ran.push(`a${timers.now()}`)
      timers.after(5, () => ran.push(`b${timers.now()}`))
      timers.after(50, () => ran.push("late"))
    })
    timers.advance(20)
    expect([ran, timers.now(), timers.pending()]).toEqual([["a10", "b15"], 20, 1])
  })

  it("advances by no negative, infinite or missing number", () => {
    const timers = VirtualTimers.make(0)
    for (const millis of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      expect(() => timers.advance(millis)).toThrow(/finite number of milliseconds/)
    }
    expect(timers.now()).toBe(0)
  })

  it("a program that never stops asking is found out", () => {
    const timers = VirtualTimers.make(0)
    const again = (): void => {
      timers.after(1, again)
    }
    again()
    expect(() => timers.runAll(1000)).toThrow(/without end/)
  })

  it("a timer of more than 25 days never runs, as in reality, and nobody waits for it", () => {
    const timers = VirtualTimers.make(0)
    const cancels = [2 ** 31, Number.POSITIVE_INFINITY].map((millis) =>
      timers.after(millis, () => expect.unreachable())
    )
    expect([timers.pending(), timers.next(), timers.now()]).toEqual([0, false, 0])
    timers.advance(2 ** 32)
    for (const cancel of cancels) cancel()
    expect([timers.pending(), timers.now()]).toEqual([0, 2 ** 32])
    timers.after(2 ** 31 - 1, () => {})
    expect(timers.pending()).toBe(1)
  })
})

describe("running until a fiber is done", () => {
  const turn = Effect.async<void>((resume) => {
    setImmediate(() => resume(Effect.void))
  })
  const runs = <A>(timers: VirtualTimers.VirtualTimers, program: Effect.Effect<A>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(program)
      yield* VirtualTimers.runUntilDone(timers, fiber)
      return yield* fiber
    }).pipe(Effect.runPromiseExit)

  it("lets work that takes no time end before the next deadline", async () => {
    for (const work of [turn, Effect.repeatN(Effect.yieldNow(), 1_000), Effect.promise(() => manyAwaits())]) {
      const timers = VirtualTimers.make(0)
      let timedOut = false
      timers.after(15_000, () => {
        timedOut = true
      })
      expect(await runs(timers, work)).toEqual(Exit.void)
      expect(timedOut).toBe(false)
    }
  })

  it("is a defect where the fiber waits for what no timer brings", async () => {
    const timers = VirtualTimers.make(0)
    timers.after(10, () => {})
    const exit = await Effect.runPromiseExit(
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(Deferred.await(yield* Deferred.make<void>()))
        yield* VirtualTimers.runUntilDone(timers, fiber)
      })
    )
    expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toMatch(/waits for what no timer brings/)
    expect(timers.now()).toBe(10)
  })
})

const manyAwaits = async (): Promise<void> => {
  for (let n = 0; n < 500; n++) await null
}
