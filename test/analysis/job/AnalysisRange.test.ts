import { expect, it } from "vitest"
import { inRange, untilEnd } from "../../../src/analysis/job/AnalysisRange.ts"
import { generate } from "../planted/Application.ts"

it("a range has the call at its start and not the one at its end; those from before it are read too", () => {
  const [first] = generate({ seed: 4, shape: "extraction", plants: new Set(), traps: new Set() })[0]?.calls ?? []
  if (first === undefined) throw new Error("an application makes calls")
  const calls = [999, 1_000, 1_999, 2_000].map((capturedAt) => ({ ...first, capturedAt }))
  const range = { rangeStart: new Date(1_000), rangeEnd: new Date(2_000) }
  expect(untilEnd(range, calls).map(({ capturedAt }) => capturedAt)).toEqual([999, 1_000, 1_999])
  expect(inRange(range, calls).map(({ capturedAt }) => capturedAt)).toEqual([1_000, 1_999])
})
