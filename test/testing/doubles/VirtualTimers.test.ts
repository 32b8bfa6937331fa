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
