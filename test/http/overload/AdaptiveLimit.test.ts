import { describe, expect, it } from "vitest"
import {
  AdaptiveLimit,
  maxLimit,
  minLimit,
  minLimitEmbedded,
  startLimit
} from "../../../src/http/overload/AdaptiveLimit.ts"

/** Runs so many windows against a stage whose latency depends on the limit; all slots are used, and others wait. */
const run = (limit: AdaptiveLimit, windows: number, latencyOf: (slots: number) => number, from = 0) => {
  const values: Array<number> = []
  for (let window = 0; window < windows; window++) {
    for (let sample = 0; sample < 10; sample++) {
      limit.add(from + window * 200 + sample * 20, latencyOf(limit.value), limit.value - 1, true)
    }
    values.push(limit.value)
  }
  return values
}

describe("the limit of calls that prepare at once", () => {
  it("rises to its maximum while latency stays flat", () => {
    const limit = new AdaptiveLimit()
    run(limit, 60, () => 5)
    expect(limit.value).toBeGreaterThan(10 * startLimit)
    for (const value of run(limit, 400, () => 5, 60 * 200)) expect(value).toBeLessThanOrEqual(maxLimit)
  })

  it("does not fall below a minimum of its own", () => {
    const limit = new AdaptiveLimit(minLimitEmbedded)
    expect(limit.value).toBeGreaterThan(minLimitEmbedded)
    run(limit, 5, () => 5)
    expect(Math.min(...run(limit, 50, (slots) => 10 * slots, 1_000))).toBe(minLimitEmbedded)
  })

  it("does not rise where it is not used", () => {
    const limit = new AdaptiveLimit()
    for (let n = 0; n < 1_000; n++) limit.add(n * 20, 5, 3, false)
    expect(limit.value).toBe(startLimit)
  })

  it("settles where latency is not far above the minimum, when more calls only make each other wait", () => {
    const limit = new AdaptiveLimit()
    run(limit, 5, () => 5)
    // 1 call a millisecond: 30 ms of latency are 30 calls
    const values = run(limit, 100, (slots) => Math.max(5, slots), 1_000)
    const settled = values.slice(40).sort((a, b) => a - b)
    const middle = settled[settled.length >> 1] ?? 0
    expect(middle).toBeGreaterThan(15)
    expect(middle).toBeLessThan(100)
  })

  it("stays there: what is measured at half the limit does not justify a higher one again and again", () => {
    const limit = new AdaptiveLimit()
    run(limit, 5, () => 5)
    const values = run(limit, 600, (slots) => Math.max(5, 0.3 * slots), 1_000)
    expect(Math.max(...values.slice(-300))).toBeLessThan(85)
  })

  it("is not lowered for a latency that its calls do not make", () => {
    const limit = new AdaptiveLimit()
    run(limit, 5, () => 5)
    const values = run(limit, 30, () => 400, 1_000)
    expect(values.at(-1)).toBeGreaterThanOrEqual(startLimit)
  })

  it("is lowered from what is used, not from a limit that nothing reaches", () => {
    const limit = new AdaptiveLimit()
    run(limit, 40, () => 5)
    expect(limit.value).toBe(maxLimit)
    // 100 calls prepare, and make each other wait
    const values: Array<number> = []
    for (let window = 0; window < 40; window++) {
      const running = Math.min(100, limit.value)
      for (let sample = 0; sample < 10; sample++) {
        limit.add(10_000 + window * 200 + sample * 20, 4 * running, running - 1, true)
      }
      values.push(limit.value)
    }
    expect(Math.max(...values.slice(-10))).toBeLessThan(100)
  })

  it("does not take for its minimum what a first, small decrease did not yet change", () => {
    const limit = new AdaptiveLimit()
    run(limit, 5, () => 5)
    // the calls that were admitted before keep latency up for 600 ms
    let delayed = [startLimit, startLimit, startLimit]
    for (let window = 0; window < 100; window++) {
      delayed = [...delayed.slice(1), limit.value]
      const latency = 2 * (delayed[0] ?? 0)
      for (let sample = 0; sample < 10; sample++) {
        limit.add(1_000 + window * 200 + sample * 20, latency, limit.value - 1, true)
      }
    }
    expect(limit.value).toBeLessThan(2 * minLimit)
  })

  it("finds back within two seconds when a slow stage is fast again", () => {
    const limit = new AdaptiveLimit()
    run(limit, 5, () => 5)
    run(limit, 50, (slots) => 10 * slots, 1_000)
    const low = limit.value
    expect(low).toBeLessThan(startLimit)
    const values = run(limit, 10, () => 5, 11_000)
    expect(values.at(-1)).toBeGreaterThan(1.5 * low)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(minLimit)
  })
})
