import { describe, expect, it } from "vitest"
import { random } from "../../../src/analysis/Decompose.ts"
import { revertAt } from "../../../src/analysis/receipts/Guards.ts"
import {
  type ConversationTally,
  measure,
  pastReceipts,
  realisedOverEstimated
} from "../../../src/analysis/receipts/Measurement.ts"
import { armOf } from "../../../src/domain/HoldOut.ts"
import { inLong } from "../../support/Figures.ts"

const division = { id: "experiment", share: 0.9 }

interface Rates {
  /** Of the conversations that get the change. */
  readonly share?: number
  readonly errors: number
  readonly harm: number
  /** How many conversations are known from before, and their errors where those were others. */
  readonly before: number
  readonly errorsBefore?: number
}

const conversationsOf = (
  seed: number,
  name: string,
  count: number,
  { errors, harm, share = division.share }: Pick<Rates, "errors" | "harm" | "share">
) => {
  const next = random(seed)
  return Array.from({ length: count }, (_, at): ConversationTally => {
    const conversation = `${name} ${seed} ${at}`
    const rate = errors + (armOf({ ...division, share }, conversation) === "treated" ? harm : 0)
    return {
      conversation,
      calls: 1,
      costMicroUsd: 1_000,
      errors: next() < rate ? 1 : 0,
      retries: next() < 0.02 ? 1 : 0,
      feedback: null
    }
  })
}

interface Looks {
  readonly every: number
  readonly max: number
}

/** How many treated conversations it takes to revert; infinite where none of the looks does. */
const untilReverted = (seed: number, { every, max }: Looks, rates: Rates): number => {
  const { before, errors, errorsBefore, harm, share = division.share } = rates
  const known = conversationsOf(seed + 1, "before", before, { errors: errorsBefore ?? errors, harm: 0 })
  const since = conversationsOf(seed + 2, "since", max, { errors, harm, share })
  for (let count = every; count <= max; count += every) {
    const seen = since.slice(0, count)
    const { conversations, eValue } = measure({
      division: { ...division, share },
      estimatedPerCall: null,
      before: known,
      since: seen
    })
    if (eValue >= revertAt) return conversations.treated
  }
  return Number.POSITIVE_INFINITY
}

/** So many tell a rate of 5 % from one that is too high. */
const experiments = inLong(1_000, 250)

const shareOf = (runs: number, isCounted: (seed: number) => boolean): number =>
  Array.from({ length: runs }, (_, at) => isCounted(at * 7_919 + 1)).filter(Boolean).length / runs

describe("the guards of an experiment", () => {
  const runs = 200

  it.each([
    [0.5, 0.1, 250, 0.8],
    [0.5, 0.15, 150, 0.8],
    [0.5, 0.9, 16, 0.9],
    [0.9, 0.3, 300, 0.8],
    [0.9, 0.9, 80, 0.9]
  ])(
    "with a share of %f find harm of %f before %i treated conversations, in %f of experiments at least",
    (share, harm, max, found) => {
      const looks = { every: Math.ceil(max / 10), max: Math.ceil((1.1 * max) / share) }
      const reverted = shareOf(
        runs,
        (seed) => untilReverted(seed, looks, { share, errors: 0.02, harm, before: 1_000 }) < max
      )
      expect(reverted).toBeGreaterThan(found)
    }
  )

  it.each([
    [0.01, 300],
    [0.05, 300],
    [0.05, 10],
    [0.05, 0]
  ])(
    `revert a change that does nothing in 5 %% of ${experiments} experiments at most: rate %f, %i conversations before`,
    (errors, before) => {
      const reverted = shareOf(
        experiments,
        (seed) => untilReverted(seed, { every: 100, max: 500 }, { errors, harm: 0, before }) < Number.POSITIVE_INFINITY
      )
      expect(reverted).toBeLessThan(0.05)
    }
  )

  it.each([0.5, 0.9])(
    "revert a change that does nothing in 5 %% of experiments at most while errors rise from 2 to 10 %% for all: share %f",
    (share) => {
      const reverted = shareOf(
        experiments,
        (seed) =>
          untilReverted(
            seed,
            { every: 100, max: 400 },
            { share, errors: 0.1, errorsBefore: 0.02, harm: 0, before: 300 }
          ) < Number.POSITIVE_INFINITY
      )
      expect(reverted).toBeLessThan(0.05)
    }
  )

  it("take no single failure for harm, however good it was before", () => {
    const before = conversationsOf(1, "before", 1_000, { errors: 0, harm: 0 })
    const failed = { ...conversationsOf(2, "since", 1, { errors: 1, harm: 0 })[0], conversation: "since 2 0" }
    const { eValue } = measure({ division, estimatedPerCall: null, before, since: [failed as ConversationTally] })
    expect(eValue).toBeLessThan(revertAt)
  })

  it("count grades below the best, of the conversations that have any", () => {
    const graded = (name: string, heldOut: number, treated: number) =>
      Array.from({ length: 900 }, (_, at) => {
        const one = conversationsOf(at, name, 1, { errors: 0, harm: 0 })[0] as ConversationTally
        const grade = armOf(division, one.conversation) === "treated" ? treated : heldOut
        return { ...one, retries: 0, feedback: at % 2 === 0 ? grade : null }
      })
    const before = graded("a", 0.1, 0.1)
    const worse = measure({ division, estimatedPerCall: null, before, since: graded("b", 0.1, 0.4) })
    const same = measure({ division, estimatedPerCall: null, before, since: graded("b", 0.1, 0.1) })
    const changedForAll = measure({ division, estimatedPerCall: null, before, since: graded("b", 0.4, 0.4) })
    expect(worse.eValue).toBeGreaterThan(revertAt)
    expect(same.eValue).toBeLessThanOrEqual(1)
    expect(changedForAll.eValue).toBeLessThanOrEqual(1)
    const grades = worse.guards.find(({ guard }) => guard === "feedback")
    expect(grades?.treated).toBeCloseTo(0.4, 6)
    expect(grades?.before).toBeCloseTo(0.1, 6)
  })
})

describe("what an experiment has saved", () => {
  const priced = (count: number, heldOut: number, treated: number) => {
    const next = random(5)
    return conversationsOf(3, "priced", count, { errors: 0, harm: 0 }).map((each) => ({
      ...each,
      calls: 2,
      costMicroUsd: Math.round((armOf(division, each.conversation) === "treated" ? treated : heldOut) * (0.5 + next()))
    }))
  }

  it("is the difference between the arms, with a bound below it", () => {
    const { conversations, estimatedPerConversation, saved } = measure({
      division,
      estimatedPerCall: 250,
      before: [],
      since: priced(2_000, 1_000, 600)
    })
    expect(conversations.treated + conversations.held_out).toBe(2_000)
    expect(estimatedPerConversation).toBe(500)
    expect(saved?.perConversation).toBeGreaterThan(350)
    expect(saved?.perConversation).toBeLessThan(450)
    expect(saved?.atLeast).toBeLessThan(saved?.perConversation ?? 0)
    expect(saved?.atLeast).toBeGreaterThan(300)
  })

  it(`has a bound that holds in 96 % of ${experiments} experiments`, () => {
    const truth = 200
    const holds = shareOf(experiments, (seed) => {
      const next = random(seed)
      const since = conversationsOf(seed, "cost", 600, { errors: 0, harm: 0 }).map((each) => ({
        ...each,
        // uneven, as conversations are
        costMicroUsd: (armOf(division, each.conversation) === "treated" ? 0 : truth) - 1_000 * Math.log(1 - next())
      }))
      const { saved } = measure({ division, estimatedPerCall: null, before: [], since })
      return saved !== null && saved.atLeast !== null && saved.atLeast <= truth
    })
    expect(holds).toBeGreaterThan(0.96)
  })

  it("has no bound, and no ratio, below 20 conversations of an arm", () => {
    const few = measure({ division, estimatedPerCall: 250, before: [], since: priced(100, 1_000, 600) })
    expect(few.conversations.held_out).toBeLessThan(20)
    expect(few.saved?.atLeast).toBeNull()
    expect(realisedOverEstimated(few)).toBeNull()
    expect(pastReceipts([few])).toEqual({ n: 0, realisedOverEstimated: null })
  })

  it("is compared with what the reports had estimated, weighted by conversations", () => {
    const of = (treated: number, perConversation: number) => ({
      ...measure({ division, estimatedPerCall: 100, before: [], since: priced(2_000, 1_000, 600) }),
      conversations: { treated, held_out: 100, before: 0 },
      estimatedPerConversation: 100,
      saved: { perConversation, atLeast: 1 }
    })
    expect(realisedOverEstimated(of(100, 90))).toBeCloseTo(0.9, 6)
    expect(pastReceipts([of(100, 100), of(300, 60)])).toEqual({ n: 2, realisedOverEstimated: 0.7 })
  })
})
