import * as Schema from "effect/Schema"
import { type Arm, armOf, type Division } from "../../domain/HoldOut.ts"
import { minEffective, quantileOfT } from "../Interval.ts"
import { combined, evidenceOf, type Guard, guards } from "./Guards.ts"

/** What the log of calls says of one conversation; of its calls, those that the change concerns. */
export interface ConversationTally {
  /** Hash of the conversation, as hex. */
  readonly conversation: string
  readonly calls: number
  readonly costMicroUsd: number
  /** Of each guard, 0 (good) to 1 (bad); `feedback` is `null` where nobody has graded a call. */
  readonly errors: number
  readonly retries: number
  readonly feedback: number | null
}

const Count = Schema.NonNegativeInt
const Mean = Schema.NullOr(Schema.Number)

/** What an experiment has shown so far; amounts in micro-USD. */
export const Measurement = Schema.Struct({
  conversations: Schema.Struct({ treated: Count, held_out: Count, before: Count }),
  costPerConversation: Schema.Struct({ treated: Mean, held_out: Mean }),
  /** Held-out less treated; `atLeast` with probability .975, `null` below 20 conversations of either arm. */
  saved: Schema.NullOr(Schema.Struct({ perConversation: Schema.Number, atLeast: Mean })),
  /** Of the report, for as many calls as a conversation has; `null` where it estimated nothing. */
  estimatedPerConversation: Mean,
  guards: Schema.Array(
    Schema.Struct({
      guard: Schema.Literal(...guards),
      treated: Mean,
      held_out: Mean,
      before: Mean,
      eValue: Schema.Number
    })
  ),
  /** Of all guards together. */
  eValue: Schema.Number
})
export type Measurement = typeof Measurement.Type

export interface Measured {
  readonly division: Division
  /** What the report expects one call to save, in micro-USD. */
  readonly estimatedPerCall: number | null
  /** From before the change. */
  readonly before: ReadonlyArray<ConversationTally>
  /** In the order in which they began. */
  readonly since: ReadonlyArray<ConversationTally>
}

/** The same conversations give the same measurement: it is computed anew each time, so that nothing is lost with a process. */
export const measure = ({ before, division, estimatedPerCall, since }: Measured): Measurement => {
  const divided = since.map((tally) => ({ arm: armOf(division, tally.conversation), tally }))
  const costs = (arm: Arm) => divided.flatMap((each) => (each.arm === arm ? [each.tally.costMicroUsd] : []))
  const treated = costs("treated")
  const heldOut = costs("held_out")
  const byGuard = guards.map((guard) => {
    const { eValue, mean } = evidenceOf(
      valuesOf(before, guard),
      divided.flatMap(({ arm, tally }) => (tally[guard] === null ? [] : [{ arm, value: tally[guard] }]))
    )
    return { guard, ...mean, eValue }
  })
  const calls = since.reduce((sum, each) => sum + each.calls, 0)
  return {
    conversations: { treated: treated.length, held_out: heldOut.length, before: before.length },
    costPerConversation: { treated: meanOf(treated), held_out: meanOf(heldOut) },
    saved: savedBetween(heldOut, treated),
    estimatedPerConversation:
      estimatedPerCall === null || since.length === 0 ? null : (estimatedPerCall * calls) / since.length,
    guards: byGuard,
    eValue: combined(byGuard.map(({ eValue }) => eValue))
  }
}

const valuesOf = (tallies: ReadonlyArray<ConversationTally>, guard: Guard) => {
  const values = tallies.flatMap((tally) => (tally[guard] === null ? [] : [tally[guard]]))
  return { conversations: values.length, sum: values.reduce((sum, value) => sum + value, 0) }
}

const confidence = 0.975

/** By Welch: the arms differ in size and in spread. */
const savedBetween = (heldOut: ReadonlyArray<number>, treated: ReadonlyArray<number>): Measurement["saved"] => {
  const [without, having] = [meanOf(heldOut), meanOf(treated)]
  if (without === null || having === null) return null
  const perConversation = without - having
  const fewest = Math.min(heldOut.length, treated.length)
  if (fewest < minEffective) return { perConversation, atLeast: null }
  const [a, b] = [squaredErrorOf(heldOut, without), squaredErrorOf(treated, having)]
  if (a + b === 0) return { perConversation, atLeast: perConversation }
  const degrees = (a + b) ** 2 / (a ** 2 / (heldOut.length - 1) + b ** 2 / (treated.length - 1))
  return { perConversation, atLeast: perConversation - quantileOfT(confidence, degrees) * Math.sqrt(a + b) }
}

const meanOf = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** Of the mean of the values. */
const squaredErrorOf = (values: ReadonlyArray<number>, mean: number): number =>
  values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1) / values.length

/** Of a receipt whose arms both have 20 conversations; else a few of them would decide. */
export const realisedOverEstimated = ({ estimatedPerConversation, saved }: Measurement): number | null =>
  estimatedPerConversation === null || estimatedPerConversation <= 0 || saved === null || saved.atLeast === null
    ? null
    : saved.perConversation / estimatedPerConversation

/** What final receipts of a project have come to, beside what their reports had estimated. */
export interface PastReceipts {
  readonly n: number
  /** Of the sums over the conversations that had the change; `null` without a receipt. */
  readonly realisedOverEstimated: number | null
}

export const pastReceipts = (receipts: ReadonlyArray<Measurement>): PastReceipts => {
  let n = 0
  let realised = 0
  let estimated = 0
  for (const receipt of receipts) {
    const { conversations, estimatedPerConversation, saved } = receipt
    if (realisedOverEstimated(receipt) === null || saved === null || estimatedPerConversation === null) continue
    n += 1
    realised += saved.perConversation * conversations.treated
    estimated += estimatedPerConversation * conversations.treated
  }
  return { n, realisedOverEstimated: n === 0 ? null : realised / estimated }
}
