import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { startLimit } from "../../../src/http/overload/AdaptiveLimit.ts"
import {
  AdmissionQueue,
  maxBurstWaitMillis,
  maxQueued,
  type QueueEntry
} from "../../../src/http/overload/AdmissionQueue.ts"
import { warmUpCalls } from "../../../src/http/overload/OverloadDetector.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"

const setUp = ({ isWarm = true } = {}) => {
  const timers = VirtualTimers.make()
  const seen = { refused: 0, waited: [] as Array<number>, overload: [] as Array<boolean> }
  const queue: AdmissionQueue = new AdmissionQueue({
    timers,
    onAdmitted: () => {},
    onTurnNeeded: () => void timers.after(0, () => queue.turn(0)),
    onOverload: (overloaded) => seen.overload.push(overloaded),
    onWaited: (millis) => seen.waited.push(millis),
    onRejected: () => {
      seen.refused += 1
    },
    onChanged: () => {}
  })
  if (isWarm) warmUp(queue)
  return { timers, queue, seen }
}

/** A node just started is lenient: as many calls as end that. */
const warmUp = (queue: AdmissionQueue) => {
  for (let call = 0; call < warmUpCalls; call++) {
    queue.enter("warm up").leave()
    queue.turn(0)
  }
}

const enter = (queue: AdmissionQueue, tenant: string, times: number): ReadonlyArray<QueueEntry> =>
  Array.from({ length: times }, () => queue.enter(tenant))

const countOf = (entries: ReadonlyArray<QueueEntry>, state: QueueEntry["state"]) =>
  entries.filter((entry) => entry.state === state).length

/**
 * A stage that prepares one call in `millis`, in order of admission, and tenants that call at their rates. What each tenant
 * got is counted from `fromMillis` on.
 */
const simulate = (tenants: Readonly<Record<string, number>>, millis: number, seconds: number, fromMillis = 0) => {
  const world = setUp()
  const { queue, timers } = world
  const running: Array<QueueEntry> = []
  const start = timers.now()
  const results = new Map<string, { served: number; refused: number; dropped: number; waits: Array<number> }>()
  const ofTenant = (tenant: string) => {
    const known = results.get(tenant) ?? { served: 0, refused: 0, dropped: 0, waits: [] as Array<number> }
    results.set(tenant, known)
    return known
  }
  const isCounted = () => timers.now() - start >= fromMillis
  const work = () => {
    running.shift()?.prepared()
    timers.after(millis, work)
  }
  timers.after(millis, work)
  for (const [tenant, perSecond] of Object.entries(tenants)) {
    const result = ofTenant(tenant)
    const call = () => {
      timers.after(1_000 / perSecond, call)
      const begin = timers.now()
      const refused = () => {
        if (isCounted()) result.refused += 1
      }
      const dropped = () => {
        refused()
        if (isCounted()) result.dropped += 1
      }
      const admitted = (entry: QueueEntry) => {
        running.push(entry)
        if (!isCounted()) return
        result.served += 1
        result.waits.push(timers.now() - begin)
      }
      if (queue.rejects(tenant)) return refused()
      const entry = queue.enter(tenant)
      if (entry.state === "admitted") admitted(entry)
      else if (entry.state === "rejected") refused()
      else entry.decided = () => (entry.state === "admitted" ? admitted(entry) : dropped())
    }
    timers.after(1_000 / perSecond, call)
  }
  timers.advance(seconds * 1_000)
  return { ...world, results: Object.fromEntries(results) }
}

describe("the admission queue", () => {
  it("serves a tenant's calls in order of arrival", () => {
    const { queue } = setUp()
    const entries = enter(queue, "a", 200)
    const order: Array<number> = []
    for (const [index, entry] of entries.entries()) entry.decided = () => order.push(index)
    const first = countOf(entries, "admitted")
    for (let n = 0; n < 200; n++) entries.find((entry) => entry.state === "admitted")?.leave()
    expect(order).toEqual(Array.from({ length: 200 - first }, (_, n) => first + n))
  })

  it("leaves a fifth of the slots to others when the calls of one tenant are stuck", () => {
    const { queue } = setUp()
    const stuck = enter(queue, "stuck", 1_000)
    expect(countOf(stuck, "admitted")).toBeLessThanOrEqual(Math.ceil(startLimit * 0.8))
    const other = enter(queue, "other", 5)
    expect(countOf(other, "admitted")).toBe(5)
  })

  it("counts all running calls of a tenant together, also those that began after it had none", () => {
    const { queue } = setUp()
    const first = queue.enter("a")
    first.prepared()
    const stuck = enter(queue, "a", 1_000)
    expect(countOf(stuck, "waiting")).toBeGreaterThan(0)
    first.leave()
    expect(countOf(enter(queue, "a", 100), "admitted")).toBe(0)
  })

  it("refuses what a stuck tenant lets wait for too long, and nobody else", () => {
    const { queue, timers } = setUp()
    const stuck = enter(queue, "stuck", 100)
    timers.advance(maxBurstWaitMillis + 200)
    expect(countOf(stuck, "waiting")).toBe(0)
    expect(countOf(enter(queue, "other", 3), "admitted")).toBe(3)
  })

  it("serves tenants in turn: one that sends a hundred times as much has none of the other's calls refused", () => {
    const { results } = simulate({ greedy: 1_500, modest: 15 }, 2, 20)
    expect(results["modest"]?.refused).toBe(0)
    expect(results["modest"]?.served).toBeGreaterThanOrEqual(298)
    expect(Math.max(...(results["modest"]?.waits ?? []))).toBeLessThan(100)
    expect(results["greedy"]?.refused).toBeGreaterThan(10_000)
  })

  it("rejects at once what it cannot serve in time: hardly any call waits first, however many others call", () => {
    const modest = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`modest ${n}`, 40]))
    const { results } = simulate({ greedy: 3_000, ...modest }, 1, 20, 2_000)
    expect(results["greedy"]?.refused).toBeGreaterThan(30_000)
    expect(results["greedy"]?.dropped).toBeLessThan(30)
    expect(Object.keys(modest).map((tenant) => results[tenant]?.refused)).toEqual(Array(10).fill(0))
  })

  it("keeps the stage busy at three times what it can do, and lets nobody wait long once it is overloaded", () => {
    const { results, seen } = simulate({ only: 3_000 }, 1, 20, 2_000)
    const { refused, served, waits } = results["only"] ?? { refused: 0, served: 0, waits: [] }
    expect(served).toBeGreaterThan(0.98 * 18_000)
    expect(refused + served).toBeGreaterThan(53_000)
    expect(Math.max(...waits)).toBeLessThan(250)
    expect(seen.overload).toEqual([true])
  })

  it("refuses nobody while the demand fits", () => {
    const { results, seen } = simulate({ a: 500, b: 300 }, 1, 10)
    expect([results["a"]?.refused, results["b"]?.refused, seen.overload]).toEqual([0, 0, []])
  })

  it("works off a burst on an idle node without refusing any of it", () => {
    const { queue, seen, timers } = setUp()
    const burst = enter(queue, "a", 1_500)
    const work = () => {
      burst.find((entry) => entry.state === "admitted")?.prepared()
      timers.after(1, work)
    }
    work()
    timers.advance(1_600)
    expect([seen.refused, seen.overload]).toEqual([0, []])
    expect(countOf(burst, "left")).toBe(1_500)
  })

  it("rejects nobody while a node that has just started gets faster, unless a call has waited two seconds", () => {
    const { queue, seen, timers } = setUp({ isWarm: false })
    const start = timers.now()
    const calls: Array<QueueEntry> = []
    let done = 0
    const work = () => {
      const isFast = timers.now() - start >= 1_000
      if (!isFast) calls.push(...enter(queue, "a", 10))
      // of ten calls in 10 ms four are served, and 50 in the end
      for (let n = 0; n < (isFast ? 50 : 4) && calls[done]?.state === "admitted"; n++) {
        calls[done]?.prepared()
        done += 1
      }
      timers.after(10, work)
    }
    work()
    timers.advance(2_000)
    expect([seen.refused, seen.overload, queue.queued, done]).toEqual([0, [], 0, calls.length])
    const stuck = enter(queue, "a", 1_000)
    timers.advance(maxBurstWaitMillis + 100)
    expect([countOf(stuck, "waiting"), seen.overload]).toEqual([0, []])
  })

  it("is overloaded also on a node whose preparation takes seconds: few calls wait until they are too old for a burst", () => {
    const { results, seen } = simulate({ only: 100 }, 40, 60, 10_000)
    expect(seen.overload[0]).toBe(true)
    expect(results["only"]?.refused).toBeGreaterThan(3_000)
    expect(results["only"]?.dropped).toBeLessThan(500)
  })

  it("is as before within two seconds after the overload", () => {
    const { queue, seen, timers } = setUp()
    const running: Array<QueueEntry> = []
    const admit = (entry: QueueEntry) => {
      if (entry.state === "admitted") running.push(entry)
      else entry.decided = () => entry.state === "admitted" && running.push(entry)
    }
    const work = () => {
      running.shift()?.prepared()
      timers.after(1, work)
    }
    work()
    for (let millis = 0; millis < 5_000; millis++) {
      for (let n = 0; n < 3; n++) if (!queue.rejects("a")) admit(queue.enter("a"))
      timers.advance(1)
    }
    expect(queue.isOverloaded).toBe(true)
    timers.advance(2_000)
    expect([queue.isOverloaded, queue.queued, seen.overload]).toEqual([false, 0, [true, false]])
    expect(queue.enter("a").state).toBe("admitted")
  })

  it("is bounded, and a tenant with nothing in it still finds a entry", () => {
    const { queue } = setUp()
    const many = enter(queue, "many", maxQueued + 200)
    expect(queue.queued).toBe(maxQueued)
    expect(countOf(many, "rejected")).toBeGreaterThan(0)
    const stuck = enter(queue, "stuck", 60)
    expect(queue.queued).toBe(maxQueued)
    expect(countOf(stuck, "admitted")).toBeGreaterThan(0)
    expect(countOf(stuck, "waiting")).toBeGreaterThan(0)
  })

  it("leaves no timer behind when it is empty or stopped", () => {
    const { queue, timers } = setUp()
    const entries = enter(queue, "a", 100)
    expect(timers.pending()).toBe(1)
    for (const entry of entries) entry.leave()
    timers.advance(1_000)
    expect(timers.pending()).toBe(0)
    enter(queue, "a", 100)
    queue.stop()
    expect(timers.pending()).toBe(0)
  })

  it("loses no slot and no entry, whatever leaves when and however often", () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("enter" as const), tenant: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ kind: fc.constantFrom("leave" as const, "prepared" as const), index: fc.nat() }),
      fc.record({ kind: fc.constant("advance" as const), millis: fc.integer({ min: 0, max: 400 }) })
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 400 }), fc.integer({ min: 1, max: 30 }), (actions, times) => {
        const { queue, seen, timers } = setUp()
        const entries: Array<QueueEntry> = []
        const decisions = new Map<QueueEntry, number>()
        for (const action of actions) {
          if (action.kind === "enter") {
            for (const entry of enter(queue, `${action.tenant}`, times)) {
              entries.push(entry)
              if (entry.state === "waiting") {
                entry.decided = () => decisions.set(entry, (decisions.get(entry) ?? 0) + 1)
              }
            }
          } else if (action.kind === "advance") timers.advance(action.millis)
          else entries[action.index % Math.max(1, entries.length)]?.[action.kind]()
          expect(countOf(entries, "waiting")).toBe(queue.queued)
        }
        for (const entry of entries) {
          entry.leave()
          entry.leave()
        }
        timers.advance(10_000)
        expect([queue.queued, timers.pending()]).toEqual([0, 0])
        for (const times of decisions.values()) expect(times).toBe(1)
        expect(seen.overload.at(-1) ?? false).toBe(false)
        const fresh = Array.from({ length: 8 }, (_, n) => queue.enter(`fresh ${n}`))
        expect(countOf(fresh, "admitted")).toBe(8)
      })
    )
  })
})
