import { describe, expect, it } from "vitest"
import { OverloadDetector, warmUpCalls } from "../../../src/http/overload/OverloadDetector.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"

const tickMillis = 50
const maxLateMillis = 1_000

/** What happens until a tick, and what the queue shows then. By default its calls wait too long, and as many arrive as are served. */
interface Tick {
  readonly arrivals?: number
  readonly departures?: number
  readonly isRejecting?: boolean
  readonly isQueued?: boolean
  readonly waitedMillis?: number
  readonly latencyMillis?: number
  readonly afterMillis?: number
}

const start = ({ calls = warmUpCalls } = {}) => {
  const timers = VirtualTimers.make()
  const since = timers.now()
  const changes: Array<readonly [overloaded: boolean, atMillis: number]> = []
  const detector = new OverloadDetector({
    maxLateMillis,
    onOverload: (overloaded) => changes.push([overloaded, timers.now() - since])
  })
  for (let call = 0; call < calls; call++) detector.departed()
  detector.begin(timers.now())
  const tick = ({
    afterMillis = tickMillis,
    arrivals = 10,
    departures = 10,
    isQueued = true,
    isRejecting = false,
    latencyMillis = 1,
    waitedMillis = maxLateMillis
  }: Tick = {}) => {
    for (let call = 0; call < arrivals; call++) detector.arrived()
    for (let call = 0; call < departures; call++) detector.departed()
    if (isRejecting) detector.rejected()
    timers.advance(afterMillis)
    detector.tick({ nowMillis: timers.now(), isQueued, waitedMillis, latencyMillis })
    detector.forgetRejections()
  }
  const ticks = (times: number, each: Tick = {}) => {
    for (let n = 0; n < times; n++) tick(each)
  }
  return { changes, detector, tick, ticks, timers }
}

const inTime: Tick = { waitedMillis: 0 }

describe("a node becomes overloaded", () => {
  it("when calls have waited too long at each tick of 100 ms, and says so once", () => {
    const { changes, detector, ticks } = start()
    ticks(2)
    expect(detector.isOverloaded).toBe(false)
    ticks(10)
    expect(changes).toEqual([[true, 150]])
    expect(detector.isOverloaded).toBe(true)
  })

  it("not by waits that a tick between them does not see", () => {
    const { changes, tick, ticks } = start()
    for (let n = 0; n < 10; n++) {
      ticks(2)
      tick(inTime)
    }
    expect(changes).toEqual([])
  })

  it("not while a burst is processed: at most half as many calls arrive as are served", () => {
    const { changes, tick, ticks } = start()
    ticks(10, { arrivals: 5, departures: 10 })
    ticks(10, { arrivals: 0, departures: 0 })
    expect(changes).toEqual([])
    ticks(2, { arrivals: 6, departures: 10 })
    tick({ arrivals: 5, departures: 10 })
    ticks(2, { arrivals: 6, departures: 10 })
    expect(changes).toEqual([])
    tick({ arrivals: 6, departures: 10 })
    expect(changes).toHaveLength(1)
  })

  it("counts only what has arrived since the tick before", () => {
    const { changes, tick, ticks } = start()
    tick({ arrivals: 1_000 })
    ticks(10, { arrivals: 5 })
    expect(changes).toEqual([])
  })

  it("not before it has served the calls that its code is compiled by", () => {
    const { changes, ticks } = start({ calls: warmUpCalls - 101 })
    ticks(10)
    expect(changes).toEqual([])
    // from the 5,000th call on, 100 ms have to pass as ever
    ticks(2)
    expect(changes).toEqual([])
    ticks(1)
    expect(changes).toEqual([[true, 650]])
  })
})

describe("a wait is too long", () => {
  const isLate = (waitedMillis: number, latencyMillis: number) => {
    const { detector, ticks } = start()
    ticks(3, { waitedMillis, latencyMillis })
    return detector.isOverloaded
  }

  it.each([
    ["from 75 ms on where the preparation is fast", 1, 75],
    ["from 75 ms on before the preparation was measured", Number.POSITIVE_INFINITY, 75],
    ["from three times the preparation on where that is more", 40, 120],
    ["from the maximum on, however slow the preparation is", 10_000, maxLateMillis]
  ])("%s", (_, latencyMillis, lateMillis) => {
    expect([isLate(lateMillis - 1, latencyMillis), isLate(lateMillis, latencyMillis)]).toEqual([false, true])
  })

  it("never where none waits", () => {
    expect(isLate(Number.NEGATIVE_INFINITY, 1)).toBe(false)
  })
})

describe("a node is no longer overloaded", () => {
  const overloaded = () => {
    const world = start()
    world.ticks(3)
    expect(world.changes).toEqual([[true, 150]])
    return world
  }

  it("after 300 ms without a rejection and a wait that was too long", () => {
    const { changes, detector, ticks } = overloaded()
    ticks(5, inTime)
    expect(detector.isOverloaded).toBe(true)
    ticks(10, inTime)
    expect(changes.slice(1)).toEqual([[false, 450]])
    expect(detector.isOverloaded).toBe(false)
  })

  it.each([
    ["each rejection", { ...inTime, isRejecting: true }],
    ["each wait that is too long", {}]
  ])("%s restarts the 300 ms", (_, bad) => {
    const { changes, tick, ticks } = overloaded()
    ticks(5, inTime)
    tick(bad)
    ticks(5, inTime)
    expect(changes).toHaveLength(1)
    ticks(1, inTime)
    expect(changes.slice(1)).toEqual([[false, 750]])
  })

  it("not while calls are rejected, however short that keeps the queue", () => {
    const { changes, ticks } = overloaded()
    ticks(20, { ...inTime, isQueued: false, arrivals: 0, isRejecting: true })
    expect(changes).toHaveLength(1)
  })

  it("and is so again only after another 100 ms", () => {
    const { changes, ticks } = overloaded()
    ticks(6, inTime)
    ticks(2)
    expect(changes).toHaveLength(2)
    ticks(1)
    expect(changes.slice(2)).toEqual([[true, 600]])
  })

  it("nor is it on its way there once nothing waits any longer", () => {
    const { changes, detector, ticks } = start()
    ticks(2)
    detector.reset()
    ticks(2)
    expect(changes).toEqual([])
    ticks(1)
    expect(changes).toHaveLength(1)
  })
})

describe("what a node can serve", () => {
  it("is what it has served in a millisecond while calls waited or were rejected", () => {
    for (const busy of [{ isQueued: true }, { isQueued: false, isRejecting: true }]) {
      const { detector, tick } = start()
      expect(detector.ratePerMilli).toBe(0)
      tick({ ...busy, departures: 200 })
      expect(detector.ratePerMilli).toBe(4)
      tick({ ...busy, departures: 200, afterMillis: 25 })
      expect(detector.ratePerMilli).toBe(8)
    }
  })

  it("ignores the demand of a node that is not busy", () => {
    const { detector, tick, ticks } = start()
    tick({ departures: 200 })
    ticks(100, { isQueued: false, departures: 1 })
    tick({ isQueued: false, departures: 1_000 })
    expect(detector.ratePerMilli).toBe(4)
  })

  it("falls by a fortieth a tick while less is served, and rises at once", () => {
    const { detector, tick } = start()
    tick({ departures: 200 })
    tick({ departures: 0 })
    expect(detector.ratePerMilli).toBeCloseTo(3.9)
    tick({ departures: 0 })
    expect(detector.ratePerMilli).toBeCloseTo(3.8025)
    tick({ departures: 250 })
    expect(detector.ratePerMilli).toBe(5)
  })

  it("is counted from the begin of a queue, and bounded where a tick comes at once", () => {
    const { detector, tick, timers } = start()
    for (let call = 0; call < 1_000; call++) detector.departed()
    timers.advance(10_000)
    detector.begin(timers.now())
    tick({ departures: 200 })
    expect(detector.ratePerMilli).toBe(4)
    tick({ departures: 7, afterMillis: 0 })
    expect(detector.ratePerMilli).toBe(7)
  })

  it("is forgotten once nothing waits any longer", () => {
    const { detector, tick } = start()
    tick({ departures: 200 })
    detector.reset()
    expect(detector.ratePerMilli).toBe(0)
  })
})
