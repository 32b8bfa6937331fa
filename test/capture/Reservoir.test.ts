import { randomBytes } from "node:crypto"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  type ClassLoad,
  cutOf,
  firstOf,
  maxOfConversation,
  positionOf,
  samplesOf,
  sharesOf
} from "../../src/capture/Reservoir.ts"
import { keptOf, type OfferedCall, offered } from "./Offered.ts"

describe("the shares of classes", () => {
  const loads = fc.uniqueArray(
    fc.record({ class: fc.string({ minLength: 1 }), samples: fc.nat(500), isFull: fc.boolean() }),
    { selector: (load) => load.class, minLength: 1, maxLength: 10 }
  )

  it("are never more than there is room for, and leave no class out that fits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), loads, (max, all) => {
        const shares = sharesOf(max, all)
        expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(max)
        const least = Math.floor(max / all.length)
        for (const { class: name, isFull, samples } of all) {
          expect(shares.get(name)).toBeGreaterThanOrEqual(Math.min(isFull ? max : samples, least))
          if (!isFull) expect(shares.get(name)).toBeLessThanOrEqual(samples)
        }
      })
    )
  })

  it("of a class that is full only fall when another class gets more", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), loads, fc.nat(9), fc.nat(500), (max, all, at, more) => {
        const grown = all.map((load, index) => (index === at ? { ...load, samples: load.samples + more } : load))
        const [before, after] = [sharesOf(max, all), sharesOf(max, grown)]
        for (const { class: name, isFull } of all) {
          if (isFull) expect(after.get(name)).toBeLessThanOrEqual(before.get(name) ?? 0)
        }
      })
    )
  })
})

/** Keeps calls as they come, as the store does. */
const keptInTurn = (maxSamples: number, calls: ReadonlyArray<OfferedCall>) => {
  const kept = new Map<string, { readonly class: string; readonly position: number; ids: ReadonlyArray<string> }>()
  const thresholds = new Map<string, number>()
  for (const { class: name, conversation, id, position } of calls) {
    if (position >= (thresholds.get(name) ?? 1)) continue
    const { ids } = kept.get(conversation) ?? { ids: [] }
    const first = [...ids, id].sort().slice(0, maxOfConversation(maxSamples))
    kept.set(conversation, { class: name, position, ids: first })
    const loads = [...new Set([...thresholds.keys(), ...[...kept.values()].map((one) => one.class)])].map(
      (each): ClassLoad => ({
        class: each,
        samples: [...kept.values()].filter((one) => one.class === each).reduce((sum, one) => sum + one.ids.length, 0),
        isFull: thresholds.has(each)
      })
    )
    for (const [each, share] of sharesOf(maxSamples, loads)) {
      const own = [...kept].filter(([, one]) => one.class === each)
      const samples = samplesOf(loads.filter((load) => load.class === each))
      if (samples <= share) continue
      const last = own
        .map(([, one]) => ({ position: one.position, samples: one.ids.length }))
        .sort((a, b) => b.position - a.position)
      const below = cutOf(last, samples, share)
      thresholds.set(each, below)
      for (const [key, one] of own) if (one.position >= below) kept.delete(key)
    }
  }
  return { ids: new Set([...kept.values()].flatMap((one) => one.ids)), thresholds }
}

it("which samples are kept does not depend on the order in which they come", () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 50 })
        .chain((maxSamples) => fc.tuple(fc.constant(maxSamples), offered(maxSamples)))
        .chain(([maxSamples, calls]) =>
          fc.tuple(fc.constant(maxSamples), fc.shuffledSubarray([...calls], { minLength: calls.length }))
        ),
      ([maxSamples, calls]) => {
        const expected = keptOf(maxSamples, calls)
        expect(expected.ids.size).toBeLessThanOrEqual(maxSamples)
        expect(keptInTurn(maxSamples, calls)).toEqual(expected)
      }
    ),
    { numRuns: 300 }
  )
})

it("a conversation's place depends on nothing but the window and the conversation", () => {
  const salt = randomBytes(16)
  expect(positionOf(salt, 1, "a")).toBe(positionOf(Buffer.from(salt), 1, "a"))
  expect(positionOf(salt, 1, "a")).not.toBe(positionOf(salt, 2, "a"))
  const places = Array.from({ length: 2_000 }, (_, at) => positionOf(Buffer.alloc(16, 9), 1, String(at)))
  const mean = places.reduce((sum, place) => sum + place, 0) / places.length
  expect(mean).toBeGreaterThan(0.47)
  expect(mean).toBeLessThan(0.53)
})

it("a part of the conversations was only taken up to the place of the next one", () => {
  const all = [0.1, 0.2, 0.4].map((position) => ({ position, inclusion: position === 0.1 ? 0.3 : 1 }))
  expect(firstOf(all, 3)).toEqual(all)
  expect(firstOf(all, 2).map(({ inclusion }) => inclusion)).toEqual([0.3, 0.4])
  expect(firstOf(all, 1).map(({ inclusion }) => inclusion)).toEqual([0.2])
  const atTheStart = [0, 0].map((position) => ({ position, inclusion: 1 }))
  expect(firstOf(atTheStart, 1)[0]?.inclusion).toBeGreaterThan(0)
})

it("a conversation may keep a twentieth of a window, at least 32 calls, and never more than there is room for", () => {
  expect([3, 100, 10_000].map(maxOfConversation)).toEqual([3, 32, 500])
})
