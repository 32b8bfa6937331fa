import { describe, expect, it } from "vitest"
import { dailySpend, roomOfBalance, roomOfLimit } from "../../src/dashboard/pages/overview/funds.ts"

const usd = 1_000_000
const noon = Date.parse("2026-01-30T12:00:00Z")
const pointsOf = (...spends: ReadonlyArray<number>) => spends.map((spend_microusd) => ({ spend_microusd }))

describe("the pace of a project", () => {
  it("is that of the last 24 hours or of the last days, whichever is more", () => {
    const timeseries = pointsOf(7 * usd, 0, 0, 0, 0, 0, 0)
    expect(dailySpend({ summary: { spend_24h_microusd: 0 }, timeseries })).toBe(usd)
    expect(dailySpend({ summary: { spend_24h_microusd: 3 * usd }, timeseries })).toBe(3 * usd)
  })
})

describe("the balance", () => {
  const of = (available_microusd: number, held_microusd: number, perDay: number) =>
    roomOfBalance({ available_microusd, held_microusd }, perDay)

  it("is low when it covers less than a day, or hardly one dear call", () => {
    expect(of(5 * usd, 0, 4 * usd)).toBe("enough")
    expect(of(5 * usd, 0, 6 * usd)).toBe("low")
    expect(of(0.3 * usd, 0, 0)).toBe("enough")
    expect(of(0.2 * usd, 0, 0)).toBe("low")
  })

  it("is used up when nothing is left of it, and not when running calls hold it", () => {
    expect(of(0, 0, 0)).toBe("none")
    expect(of(-usd, 0, 0)).toBe("none")
    expect(of(0, 5 * usd, usd)).toBe("enough")
  })
})

describe("the limit of a project", () => {
  const of = (
    spend_limit_microusd: number | null,
    spent_microusd: number,
    perDay: number,
    limit_reset: "day" | "week" | "month" | null = null
  ) => roomOfLimit({ spend_limit_microusd, spent_microusd, limit_reset }, perDay, noon)

  it("is low when four fifths are spent, or when the rest covers less than a day", () => {
    expect(of(null, 500 * usd, 100 * usd)).toBe("enough")
    expect(of(10 * usd, 7.9 * usd, 2 * usd)).toBe("enough")
    expect(of(10 * usd, 8 * usd, 0)).toBe("low")
    expect(of(10 * usd, 7.9 * usd, 3 * usd)).toBe("low")
    expect(of(10 * usd, 10 * usd, 0)).toBe("none")
    expect(of(0, 0, 0)).toBe("none")
  })

  it("has to last no longer than until it resets", () => {
    // half a day is left of this one
    expect(of(10 * usd, 5 * usd, 8 * usd, "day")).toBe("enough")
    expect(of(10 * usd, 5 * usd, 11 * usd, "day")).toBe("low")
    // a Friday, and the last but one of the month
    expect(of(10 * usd, 5 * usd, 8 * usd, "week")).toBe("low")
    expect(of(10 * usd, 5 * usd, 8 * usd, "month")).toBe("low")
    const lastNoon = Date.parse("2026-01-31T12:00:00Z")
    const ofMonth = { spend_limit_microusd: 10 * usd, spent_microusd: 5 * usd, limit_reset: "month" } as const
    expect(roomOfLimit(ofMonth, 8 * usd, lastNoon)).toBe("enough")
    const sunday = Date.parse("2026-02-01T12:00:00Z")
    expect(roomOfLimit({ ...ofMonth, limit_reset: "week" }, 8 * usd, sunday)).toBe("enough")
  })
})
