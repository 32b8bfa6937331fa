import * as fc from "effect/FastCheck"
import { expect, it } from "vitest"
import { dayOf, expiryOf, oldestDayOf } from "../../src/capture/KeyDays.ts"

const noon = Date.UTC(2026, 1, 10, 12)

it("the days of keys are those of UTC", () => {
  expect(dayOf(Date.UTC(2026, 1, 9, 23, 59, 59, 999))).toBe("2026-02-09")
  expect(dayOf(Date.UTC(2026, 1, 10))).toBe("2026-02-10")
})

it("a key seals for a week, and no longer than samples are kept", () => {
  expect(oldestDayOf(noon, 30)).toBe("2026-02-03")
  expect(oldestDayOf(noon, 7)).toBe("2026-02-03")
  expect(oldestDayOf(noon, 1)).toBe("2026-02-09")
})

it("a conversation is kept for its days after the end of the day of its key", () => {
  expect(expiryOf("2026-02-10", 30)).toEqual(new Date(Date.UTC(2026, 2, 13)))
  expect(expiryOf("2026-02-28", 1)).toEqual(new Date(Date.UTC(2026, 2, 2)))
})

it("nothing is sealed under a key that has expired", () => {
  const times = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) })
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 365 }), (now, retentionDays) => {
      expect(expiryOf(oldestDayOf(now, retentionDays), retentionDays).getTime()).toBeGreaterThan(now)
    })
  )
})
