import { describe, expect, it } from "vitest"
import { FailureLimits } from "../../../src/identity/keys/FailureLimits.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"

const setUp = () => {
  const timers = VirtualTimers.make()
  const failures = new FailureLimits(timers, "API key")
  const failOften = (times: number, address: string) => {
    let blockedMillis = 0
    for (let n = 0; n < times; n++) blockedMillis = failures.count(address)
    return blockedMillis
  }
  return { timers, failures, failOften }
}

describe("failed attempts of an address", () => {
  it("are limited after a thousand, until a minute after the first", () => {
    const { failOften, failures, timers } = setUp()
    expect(failOften(1, "a")).toBe(0)
    timers.advance(20_000)
    expect(failOften(999, "a")).toBe(0)
    expect(failures.count("a")).toBe(40_000)
    timers.advance(39_999)
    expect(failures.count("a")).toBe(1)
    timers.advance(1)
    expect(failures.count("a")).toBe(0)
  })

  it("are told once in a minute as they reach the limit, with the address", () => {
    const timers = VirtualTimers.make()
    const told: Array<string> = []
    const failures = new FailureLimits(timers, "API key", (client) => told.push(client))
    const fail = (times: number, address: string) => {
      for (let n = 0; n < times; n++) failures.count(address)
    }
    fail(999, "a")
    expect(told).toEqual([])
    fail(500, "a")
    fail(999, "b")
    expect(told).toEqual(["a"])
    timers.advance(60_000)
    fail(1_000, "a")
    expect(told).toEqual(["a", "a"])
  })

  it("are nobody else's", () => {
    const { failOften, failures } = setUp()
    expect(failOften(1_001, "a")).toBeGreaterThan(0)
    expect(failures.count("b")).toBe(0)
  })

  it("are those of an IPv6 client, whatever addresses of its network it uses", () => {
    const { failOften, failures } = setUp()
    for (let n = 0; n < 1_000; n++) failures.count(`2001:db8:1:2::${n}`)
    expect(failures.blockedMillis("2001:db8:1:2:ffff::1")).toBeGreaterThan(0)
    expect(failures.count("2001:db8:1:3::1")).toBe(0)
    failures.uncount("2001:db8:1:2::1")
    expect(failures.count("2001:db8:1:2::7777")).toBe(0)
    failOften(1_000, "::ffff:192.0.2.7")
    expect(failures.count("192.0.2.7")).toBeGreaterThan(0)
    expect(failures.count("::ffff:192.0.2.8")).toBe(0)
  })

  it("that turn out to be none do not count", () => {
    const { failOften, failures } = setUp()
    failOften(1_000, "a")
    failures.uncount("a")
    expect(failures.count("a")).toBe(0)
    expect(failures.count("a")).toBeGreaterThan(0)
  })

  it("are forgotten one address at a time when there are too many addresses", () => {
    const { failOften, failures } = setUp()
    failOften(1_001, "first")
    failOften(1_001, "second")
    for (let n = 0; n < 9_999; n++) failures.count(`other-${n}`)
    expect(failures.count("second")).toBeGreaterThan(0)
    expect(failures.count("first")).toBe(0)
  })
})
