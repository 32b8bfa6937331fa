import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { BoundedMap } from "../../src/domain/BoundedMap.ts"

const entriesOf = (map: BoundedMap<number, number>): ReadonlyArray<readonly [number, number]> => {
  const entries: Array<readonly [number, number]> = []
  map.forEach((value, key) => {
    entries.push([key, value])
  })
  return entries
}

describe("a bounded map", () => {
  it("keeps the entries that were set last, and at most as many older ones", () => {
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.record({ set: fc.nat(20), value: fc.nat() }) },
      { weight: 5, arbitrary: fc.record({ remove: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.constant("clear" as const) }
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80 }), (kept, steps) => {
        const map = new BoundedMap<number, number>(kept)
        // in the order in which they were set last; null: removed since
        const unbounded = new Map<number, number | null>()
        for (const one of steps) {
          if (one === "clear") {
            map.clear()
            unbounded.clear()
          } else if ("set" in one) {
            map.set(one.set, one.value)
            unbounded.delete(one.set)
            unbounded.set(one.set, one.value)
          } else {
            map.delete(one.remove)
            if (unbounded.has(one.remove)) unbounded.set(one.remove, null)
          }
          const entries = entriesOf(map)
          expect(entries.length).toBe(map.size)
          expect(map.size).toBeLessThanOrEqual(2 * kept)
          expect(new Set(entries.map(([key]) => key)).size).toBe(entries.length)
          for (const [key, value] of entries) expect([map.has(key), map.get(key)]).toEqual([true, value])
          for (const [key, value] of entries) expect(unbounded.get(key)).toBe(value)
          const latest = [...unbounded].slice(-kept).filter(([, value]) => value !== null)
          expect(entries).toEqual(expect.arrayContaining(latest))
        }
      })
    )
  })

  it("may lose entries while it is walked", () => {
    const map = new BoundedMap<number, number>(5)
    for (let key = 0; key < 9; key++) map.set(key, key)
    map.forEach((_, key) => {
      map.delete(key)
    })
    expect([map.size, map.has(3), map.get(3)]).toEqual([0, false, undefined])
  })
})
