import { describe, expect, it } from "vitest"
import { RejectionPace } from "../../../src/http/overload/RejectionPace.ts"
import { VirtualTimers } from "../../../src/testing/index.ts"

const setUp = () => {
  const timers = VirtualTimers.make()
  const pace = new RejectionPace(timers)
  const refused: Array<number> = []
  const cancels: Array<() => void> = []
  const refuse = (connection: object) => {
    const nth = cancels.length
    cancels.push(pace.add(connection, () => refused.push(nth)))
  }
  /** Was rejected just now and does not wait. */
  const hasty = {}
  pace.add(hasty, () => {})
  const add = (times: number) => {
    for (let n = 0; n < times; n++) refuse(hasty)
  }
  return { timers, pace, refused, cancels, add, refuse }
}

describe("refusals", () => {
  it("are written at once while they are few", () => {
    const { add, refused } = setUp()
    add(100)
    expect(refused.length).toBe(100)
  })

  it("wait in order of arrival once they are many, and are written together, one for every ten admitted calls", () => {
    const { add, pace, refused, timers } = setUp()
    pace.overloaded(true)
    add(1_000)
    const atOnce = refused.length
    expect(atOnce).toBeLessThan(1_000)
    for (let call = 0; call < 805; call++) pace.admitted()
    expect(refused.length).toBe(atOnce)
    timers.next()
    expect(refused.length - atOnce).toBe(80)
    expect(refused).toEqual(refused.map((_, nth) => nth))
  })

  it("are written at once to clients that wait as long as they are told, while others wait for theirs", () => {
    const { add, pace, refuse, refused, timers } = setUp()
    const patient = Array.from({ length: 400 }, () => ({}))
    pace.overloaded(true)
    add(1_000)
    for (let second = 0; second < 5; second++) {
      const before = refused.length
      for (const connection of patient) refuse(connection)
      expect(refused.length - before).toBe(400)
      for (let call = 0; call < 2_001; call++) pace.admitted()
      timers.advance(1_000)
      add(1_000)
    }
  })

  it("are no more than a thousand at once, also to new connections", () => {
    const { pace, refuse, refused } = setUp()
    for (let n = 0; n < 3_000; n++) refuse({})
    expect(refused.length).toBeGreaterThan(900)
    expect(refused.length).toBeLessThan(1_300)
    for (let call = 0; call < 1_001; call++) pace.admitted()
    const before = refused.length
    refuse({})
    expect(refused.length - before).toBe(1)
  })

  it("are written in the end also when nobody is admitted", () => {
    const { add, refused, timers } = setUp()
    add(1_000)
    while (timers.next()) {}
    expect(refused.length).toBe(1_000)
  })

  it("wait no longer than half a second more once the node is not overloaded any more", () => {
    const { add, pace, refused, timers } = setUp()
    pace.overloaded(true)
    add(1_000)
    const endedAt = timers.now()
    pace.overloaded(false)
    while (timers.next()) {}
    expect(refused.length).toBe(1_000)
    expect(timers.now() - endedAt).toBeLessThanOrEqual(500)
  })

  it("are written ten in a tenth of a second while the node is overloaded and admits nobody", () => {
    const { add, pace, refused, timers } = setUp()
    pace.overloaded(true)
    add(1_000)
    const atOnce = refused.length
    timers.next()
    expect(refused.length - atOnce).toBe(10)
  })

  it("are not written to whoever has gone", () => {
    const { add, cancels, refused, timers } = setUp()
    add(1_000)
    const atOnce = refused.length
    for (const cancel of cancels) cancel()
    while (timers.next()) {}
    expect(refused.length).toBe(atOnce)
  })

  it("are written at once when too many wait, and all of them when the node stops", () => {
    const { add, pace, refused } = setUp()
    add(10_000)
    expect(refused.length).toBeGreaterThan(5_000)
    pace.stop()
    expect(new Set(refused).size).toBe(10_000)
  })
})
