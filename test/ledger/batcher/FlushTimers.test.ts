import { describe, expect, it } from "vitest"
import { FlushTimers } from "../../../src/ledger/batcher/FlushTimers.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"

/** What each flush saw, and when. */
const start = (onFlush: (timers: FlushTimers) => void = () => {}) => {
  const clock = VirtualTimers.make()
  const since = clock.now()
  const flushes: Array<{ readonly atMillis: number; readonly isPaused: boolean; readonly isRetrying: boolean }> = []
  const timers: FlushTimers = new FlushTimers(clock, () => {
    flushes.push({ atMillis: clock.now() - since, isPaused: timers.isPaused, isRetrying: timers.isRetrying })
    onFlush(timers)
  })
  return { clock, flushes, timers, times: () => flushes.map(({ atMillis }) => atMillis) }
}

describe("what arrives in one turn of the event loop", () => {
  it("is written together, after the turn", async () => {
    const { flushes, timers } = start()
    timers.inMicrotask()
    timers.inMicrotask()
    expect(flushes).toHaveLength(0)
    await Promise.resolve()
    expect(flushes).toHaveLength(1)
    timers.inMicrotask()
    await Promise.resolve()
    expect(flushes).toHaveLength(2)
  })

  it("is written in the next one where it arrives while the one before is being written", async () => {
    let left = 1
    const { flushes, timers } = start((own) => {
      if (left > 0) own.inMicrotask()
      left -= 1
    })
    timers.inMicrotask()
    await Promise.resolve()
    await Promise.resolve()
    expect(flushes).toHaveLength(2)
  })
})

describe("a settlement that waits for others", () => {
  it("is written after 20 ms, however many come meanwhile", () => {
    const { clock, timers, times } = start()
    timers.later()
    clock.advance(19)
    timers.later()
    expect([times(), clock.pending()]).toEqual([[], 1])
    clock.advance(100)
    expect(times()).toEqual([20])
  })

  it("is late after that, until what waited is being written", () => {
    const { clock, timers } = start()
    timers.later()
    clock.advance(19)
    expect(timers.isLate).toBe(false)
    clock.advance(1)
    expect(timers.isLate).toBe(true)
    timers.cancelLater()
    expect(timers.isLate).toBe(false)
  })

  it("waits no longer when it is being written, and the next one waits the full time", () => {
    const { clock, timers, times } = start()
    timers.cancelLater()
    timers.later()
    clock.advance(6)
    timers.cancelLater()
    expect(clock.pending()).toBe(0)
    timers.later()
    clock.advance(100)
    expect(times()).toEqual([26])
  })

  it("waits the full time again after its time, once what waited is being written", () => {
    const { clock, timers, times } = start((own) => own.cancelLater())
    timers.later()
    clock.advance(20)
    timers.later()
    clock.advance(20)
    expect(times()).toEqual([20, 40])
  })
})

describe("after a batch that has failed", () => {
  it("settlements are tried again at the time that was given, and are no longer put off then", () => {
    const { clock, flushes, timers } = start()
    expect(timers.isRetrying).toBe(false)
    timers.retryAfter(250)
    clock.advance(249)
    expect([timers.isRetrying, timers.isPaused, flushes.length]).toEqual([true, false, 0])
    clock.advance(1)
    expect(flushes).toEqual([{ atMillis: 250, isPaused: false, isRetrying: false }])
    timers.retryAfter(50)
    expect(timers.isRetrying).toBe(true)
    clock.advance(50)
    expect(flushes).toHaveLength(2)
  })

  it("because of a lock, nothing is written for 100 ms, and then it may be", () => {
    const { clock, flushes, timers } = start()
    expect(timers.isPaused).toBe(false)
    timers.pause()
    clock.advance(99)
    expect([timers.isPaused, timers.isRetrying, flushes.length]).toEqual([true, false, 0])
    clock.advance(1)
    expect(flushes).toEqual([{ atMillis: 100, isPaused: false, isRetrying: false }])
    expect(clock.pending()).toBe(0)
  })

  it("a write ends no wait but that for a reservation", () => {
    const { clock, timers, times } = start()
    timers.later()
    timers.retryAfter(50)
    timers.pause()
    timers.cancelLater()
    expect([timers.isRetrying, timers.isPaused]).toEqual([true, true])
    clock.advance(1_000)
    expect(times()).toEqual([50, 100])
  })
})
