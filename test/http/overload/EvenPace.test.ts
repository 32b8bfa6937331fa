import { describe, expect, it } from "vitest"
import { EvenPace } from "../../../src/http/overload/EvenPace.ts"
import { VirtualTimers } from "../../../src/testing/index.ts"

const setUp = () => {
  const timers = VirtualTimers.make()
  const pace = new EvenPace(timers)
  const responded: Array<number> = []
  let count = 0
  const add = (times: number): ReadonlyArray<() => void> =>
    Array.from({ length: times }, () => {
      const nth = count++
      return pace.add(() => responded.push(nth))
    })
  return { timers, pace, responded, add }
}

describe("responses at an even pace", () => {
  it("are written at once while they are few, eight in ten milliseconds otherwise, in order of arrival", () => {
    const { add, responded, timers } = setUp()
    add(8)
    expect(responded.length).toBe(8)
    add(100)
    expect(responded.length).toBe(8)
    timers.advance(10)
    expect(responded.length).toBe(16)
    timers.advance(990)
    expect(responded).toEqual(Array.from({ length: 108 }, (_, nth) => nth))
    add(1)
    expect(responded.length).toBe(109)
  })

  it("are counted in each ten milliseconds, also when none waits", () => {
    const { add, responded, timers } = setUp()
    add(5)
    timers.advance(9)
    add(5)
    expect(responded.length).toBe(8)
    timers.advance(1)
    expect(responded.length).toBe(10)
    while (timers.next()) {}
    add(9)
    expect(responded.length).toBe(18)
  })

  it("are not written to whoever has gone", () => {
    const { add, responded, timers } = setUp()
    for (const cancel of add(20)) cancel()
    add(1)
    while (timers.next()) {}
    expect(responded).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 20])
  })

  it("are written at once where too many wait, and all of them when the node stops", () => {
    const { add, pace, responded, timers } = setUp()
    add(5_000)
    expect(responded.length).toBe(5_000 - 4_096)
    pace.stop()
    expect(new Set(responded).size).toBe(5_000)
    expect(timers.next()).toBe(false)
  })
})
