// Promise: Retries are bounded.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { make } from "../../src/routing/RetryBudget.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { model } from "./models.ts"

const large = model("acme/large")
const sibling = model("acme/small")
const other = model("beta/large")

const start = () => {
  const timers = VirtualTimers.make()
  const budget = make(timers)
  const granted = (times: number, one = large) =>
    Array.from({ length: times }, () => budget.mayRetry(one)).filter((may) => may).length
  const calls = (times: number, one = large) => {
    for (let n = 0; n < times; n++) budget.called(one)
  }
  return { timers, budget, granted, calls }
}

describe("The retry budget", () => {
  it("a provider without calls has three retries", () => {
    expect(start().granted(10)).toBe(3)
  })

  it("a provider has a fifth of its calls on top", () => {
    const { calls, granted } = start()
    calls(100)
    expect(granted(100)).toBe(23)
  })

  it("the retry budget is shared by the routes of a provider and by no other provider", () => {
    const { granted } = start()
    expect(granted(2, large)).toBe(2)
    expect(granted(2, sibling)).toBe(1)
    expect(granted(4, other)).toBe(3)
  })

  it("retries are forgotten after ten seconds, and the calls that earned them too", () => {
    const { calls, granted, timers } = start()
    calls(100)
    granted(100)
    timers.advance(5_000)
    expect(granted(100)).toBe(0)
    timers.advance(5_000)
    expect(granted(100)).toBe(3)
  })

  it("in a total outage attempts stay below 1.2 times the calls and three for each window", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 }), (gaps) => {
        const { budget, timers } = start()
        const began = timers.now()
        let attempts = 0
        for (const gap of gaps) {
          timers.advance(gap)
          budget.called(large)
          attempts++
          for (let retry = 0; retry < 3 && budget.mayRetry(large); retry++) attempts++
        }
        const windows = 1 + Math.ceil((timers.now() - began) / 9_000)
        expect(attempts).toBeLessThanOrEqual(1.2 * gaps.length + 3 * windows)
      })
    )
  })
})
