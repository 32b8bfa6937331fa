import * as Arr from "effect/Array"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Candidate, candidatesFrom } from "../../src/domain/Candidate.ts"
import { plainTerms } from "../../src/domain/Prices.ts"
import { willReason } from "../../src/gateway/Deadlines.ts"
import { HoldOptions } from "../../src/gateway/HoldOptions.ts"
import { microUsd } from "../../src/index.ts"
import * as Estimate from "../../src/ledger/Estimate.ts"
import { testModel } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"

const measure = {
  utf8Bytes: 4_000,
  estimatedTokens: 900,
  highTokens: 1_100,
  images: 0,
  files: 0,
  furtherPages: 0,
  audioTokens: 0
}

const candidate = ({ effort, input, limit, output }: Shape, index: number): Candidate => ({
  model: testModel(`p${index}/m`, {
    prices: { input: microUsd(input), output: microUsd(output), cacheRead: null, cacheWrite: null, tiers: [] },
    outputTokens: limit
  }),
  quality: 0.5,
  expectedCost: microUsd(10),
  score: 0.5,
  effort,
  dropped: [],
  altered: [],
  notes: [],
  terms: plainTerms
})

interface Shape {
  readonly effort: "high" | undefined
  readonly input: number
  readonly output: number
  readonly limit: number | null
}

const shapes = fc.array(
  fc.record({
    effort: fc.constantFrom("high" as const, undefined),
    input: fc.nat(20_000_000),
    output: fc.nat(80_000_000),
    limit: fc.constantFrom(null, 100, 2_000, 64_000)
  }),
  { minLength: 1, maxLength: 12 }
)

describe("hold options", () => {
  it("grant what the options of all candidates would grant, whatever the room", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
        fc.nat(10_000_000),
        (all, cap, room) => {
          const candidates = all.map(candidate)
          if (!Arr.isNonEmptyArray(candidates)) return
          const asked = { ...request(), maxOutputTokens: cap }
          const needs = candidates.length === 1 ? (["min"] as const) : (["likely", "min"] as const)
          const every = needs.flatMap((need) =>
            candidates.map((one, index) => ({
              option: Estimate.holdOption(measure, asked, one, willReason(one, asked), need),
              index
            }))
          )
          const made = new HoldOptions(measure, asked, candidatesFrom(candidates))
          const options = [made.first, ...(made.others?.() ?? [])]
          const expected = every.find(({ option }) => option.min <= room)
          const at = options.findIndex(({ min }) => min <= room)
          expect(options[at]).toEqual(expected?.option)
          if (expected !== undefined) expect(made.candidateOf(at)).toBe(expected.index)
          expect(Math.min(...options.map(({ min }) => min))).toBe(Math.min(...every.map(({ option }) => option.min)))
          expect(made.maxOutputTokens).toBe(
            Math.max(...candidates.map((one) => Estimate.outputCap(asked, one, measure)))
          )
        }
      )
    )
  })

  it("of candidates that cost the same are those of the first", () => {
    const candidates = Arr.makeBy(100, (index) =>
      candidate({ effort: undefined, input: 1_000, output: 1_000, limit: null }, index)
    )
    const made = new HoldOptions(measure, request(), candidatesFrom(candidates))
    expect(made.others?.()).toHaveLength(1)
    expect([made.candidateOf(0), made.candidateOf(1)]).toEqual([0, 0])
  })
})
