import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { serverEventsOf } from "../../src/dashboard/api/events.ts"
import { rangeOf, stepsOf, widthOf } from "../../src/dashboard/parts/axis.ts"
import {
  cost,
  microUsdOf,
  money,
  percentOf,
  relative,
  shareOf,
  short,
  usdOf
} from "../../src/dashboard/parts/format.ts"

describe("money", () => {
  it.each([
    [0, "$0"],
    [1, "$0.000001"],
    [412, "$0.000412"],
    [4_100, "$0.0041"],
    [24_310_000, "$24.31"],
    [25_000_000, "$25.00"],
    [24_999_958, "$24.999958"],
    [1_234_567_890, "$1,234.56789"],
    [2_500_000_000, "$2,500.00"],
    [-1_500_000, "−$1.50"],
    [null, "—"],
    [undefined, "—"]
  ])("of %s micro-USD is %s", (microUsd, text) => {
    expect(money(microUsd)).toBe(text)
  })

  it("loses nothing, so that figures that are summed on a page add up", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (microUsd) => {
        const shown = money(microUsd).slice(1).replaceAll(",", "")
        expect(Math.round(Number(shown) * 1_000_000)).toBe(microUsd)
        expect(microUsdOf(usdOf(microUsd))).toBe(microUsd)
      })
    )
  })

  it("says what is estimated", () => {
    expect(cost({ amount_microusd: 4_100, basis: "estimated" })).toBe("≈ $0.0041")
    expect(cost({ amount_microusd: 4_100, basis: "charged" })).toBe("$0.0041")
  })

  it("that is none is no amount", () => {
    expect(microUsdOf("")).toBe(null)
    // JSON writes what is infinite as null, which is no limit
    for (const text of ["abc", "-1", "0.0000001", "9".repeat(400)]) expect(microUsdOf(text)).toBe(undefined)
  })
})

it("writes large numbers and times short", () => {
  expect([999, 1_000, 1_240, 310_400, 2_500_000].map(short)).toEqual(["999", "1k", "1.2k", "310k", "2.5M"])
  expect([99_950, 999_499, 999_500, 999_950].map(short)).toEqual(["100k", "999k", "1M", "1M"])
  expect([999_499_999, 999_500_000, 1_240_000_000].map(short)).toEqual(["999M", "1B", "1.2B"])
  const now = Date.parse("2026-01-02T00:00:00Z")
  expect(relative("2026-01-01T23:58:00Z", now)).toBe("2 min ago")
  expect(relative("2026-01-05T00:00:00Z", now)).toBe("in 3 d")
  // what rounds to a whole larger unit is one
  expect(relative("2026-01-01T23:00:10Z", now)).toBe("1 h ago")
  expect(relative("2026-01-01T23:00:40Z", now)).toBe("59 min ago")
  expect(relative("2026-01-02T23:40:00Z", now)).toBe("in 1 d")
  expect(relative("2026-01-02T00:00:59.700Z", now)).toBe("in 1 min")
})

describe("the events of a stream", () => {
  const collect = async (parts: ReadonlyArray<Uint8Array>) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      }
    })
    const found: Array<string> = []
    for await (const { data } of serverEventsOf(body)) found.push(data)
    return found
  }

  it("are the same however its bytes are cut", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
          { maxLength: 8 }
        ),
        fc.array(fc.nat(400), { maxLength: 20 }),
        fc.constantFrom("\n", "\r\n"),
        async (texts, cuts, newline) => {
          const bytes = new TextEncoder().encode(
            texts.map((text) => `: keep-alive${newline}${newline}data: ${text}${newline}${newline}`).join("")
          )
          const at = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b)
          const parts = at.slice(1).map((end, index) => bytes.slice(at[index], end))
          expect(await collect(parts)).toEqual(texts)
        }
      )
    ))

  it("are let go of with the rest of the response where a reader has seen enough", async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("data: one\n\ndata: two\n\n")),
      cancel: () => {
        isCancelled = true
      }
    })
    for await (const { data } of serverEventsOf(body)) if (data === "one") break
    expect(isCancelled).toBe(true)
  })
})

describe("a share in a field of percent", () => {
  it("is sent as it was read where it is not changed", () => {
    expect([percentOf(0.07), percentOf(0.29), percentOf(0.007)]).toEqual([7, 29, 0.7])
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (millionths) => {
        const share = millionths / 1_000_000
        expect(shareOf(percentOf(share))).toBe(share)
      })
    )
  })
})

describe("the axis of a chart", () => {
  it("has no parts of calls or micro-USD", () => {
    expect(stepsOf([0, 3, null])?.every(Number.isInteger)).toBe(true)
    expect(stepsOf([0.5, 3])).toBe(undefined)
  })

  it("goes to one unit, such as a dollar, where there was nothing", () => {
    expect([rangeOf(0, 0, 1_000_000), rangeOf(0, 10, 1_000_000)]).toEqual([
      [0, 1_000_000],
      [0, 11]
    ])
  })

  it("has room for the longest of its labels", () => {
    expect(widthOf([money(1), money(0)])).toBeGreaterThan(money(1).length * 7)
    expect(widthOf(null)).toBeLessThan(widthOf([money(1)]))
  })
})
