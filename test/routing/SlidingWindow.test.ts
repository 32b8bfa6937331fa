import * as fc from "fast-check"
import { expect, it } from "vitest"
import { SlidingWindow } from "../../src/routing/SlidingWindow.ts"

it("a window counts all of its last nine tenths and nothing older than itself", () => {
  const event = fc.record({ gap: fc.integer({ min: 0, max: 700 }), first: fc.nat(3), second: fc.nat(3) })
  fc.assert(
    fc.property(fc.array(event, { minLength: 1 }), fc.integer({ min: 0, max: 2_000 }), (events, after) => {
      const window = new SlidingWindow(1_000)
      let now = 1_767_225_600_000
      const seen: Array<{ readonly at: number; readonly first: number; readonly second: number }> = []
      for (const { gap, first, second } of events) {
        now += gap
        window.add(now, first, second)
        seen.push({ at: now, first, second })
      }
      now += after
      const since = (millis: number, kind: "first" | "second") =>
        seen.filter((one) => one.at > now - millis).reduce((sum, one) => sum + one[kind], 0)
      const totals = window.totals(now)
      for (const kind of ["first", "second"] as const) {
        expect(totals[kind]).toBeGreaterThanOrEqual(since(900, kind))
        expect(totals[kind]).toBeLessThanOrEqual(since(1_000, kind))
      }
    })
  )
})
