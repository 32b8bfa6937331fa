import { randomBytes } from "node:crypto"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { maxOfConversation, positionOf, sharesOf } from "../../src/capture/Reservoir.ts"

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
          // integers: the rest of a division goes to whichever class comes last
          if (isFull) expect(after.get(name)).toBeLessThanOrEqual((before.get(name) ?? 0) + all.length)
        }
      })
    )
  })
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

it("a conversation may keep a twentieth of a window, at least 32 calls, and never more than there is room for", () => {
  expect([3, 100, 10_000].map(maxOfConversation)).toEqual([3, 32, 500])
})
