import type { Cause, Finding } from "./Cause.ts"
import { turnsOf } from "./Cause.ts"
import { causes } from "./Causes.ts"
import { decompose } from "./Decompose.ts"
import { type Edits, unionOf } from "./Edits.ts"
import { effectiveCount, minEffective, type Projection, project } from "./Interval.ts"
import { type Bill, type ModelError, noEdits, Rebill } from "./Rebill.ts"
import type { Workload } from "./Workload.ts"

/** What a workload wastes, by cause; amounts in micro-USD of what was charged. */
export interface Diagnosis {
  readonly chargedMicroUsd: number
  /** The sum of the shares: exactly. */
  readonly avoidableMicroUsd: number
  /** What all hypotheses would save together at most: not their sum, since two may save the same; at most what was charged. */
  readonly hypothesesMicroUsd: number
  readonly findings: ReadonlyArray<CauseFinding>
  readonly modelErrors: ReadonlyArray<ModelError>
  readonly effectiveConversations: number
  readonly projection: Projection | undefined
}

export interface CauseFinding {
  readonly cause: Cause
  readonly tier: Cause["tier"]
  readonly finding: Finding
  readonly shareMicroUsd: number
  readonly aloneMicroUsd: number
  /** Share of the whole spend, as for `Projection`; `undefined` where too few conversations are known. */
  readonly projection: Projection | undefined
  readonly conversations: number
}

/** A bill that differs by more from what was charged says nothing sure of that route. */
const maxModelError = 0.1
/** Smaller shares are within what the model of a bill is wrong by. */
const minShare = 0.005

export const diagnose = (workload: Workload, seed: number): Diagnosis => {
  const rebill = new Rebill(workload)
  const input = { workload, rebill, turns: turnsOf(workload) }
  const found = causes.flatMap((cause) => {
    const finding = ofRange(cause.find(input), workload)
    return finding === undefined ? [] : [{ cause, finding, tier: tierOf(cause, finding, rebill) }]
  })
  const charged = workload.calls.reduce(
    (sum, { chargedMicroUsd, isInRange }) => sum + (isInRange ? chargedMicroUsd : 0),
    0
  )
  let billed = found.filter(({ tier }) => tier === "exact" || tier === "rebilled")
  const unsure = found.filter(({ tier }) => tier === "hypothesis")
  const scales = scalesOf(workload, rebill.base, leftOutBy(billed))
  const perConversation = (edits: Edits): Float64Array => {
    const sums = new Float64Array(workload.conversations.length)
    const bill = edits.size === 0 ? rebill.base : rebill.bill(edits)
    workload.calls.forEach(({ conversation, isInRange }, index) => {
      if (isInRange) sums[conversation] = (sums[conversation] ?? 0) + (bill.microUsd[index] ?? 0) * (scales[index] ?? 1)
    })
    return sums
  }
  const sharesOf = () =>
    decompose(
      billed.length,
      (set) =>
        perConversation(set.size === 0 ? noEdits : unionOf([...set].map((i) => billed[i]?.finding.edits ?? noEdits))),
      seed
    )
  let divided = sharesOf()
  const material = billed.filter((_, position) => (divided.shares[position] ?? 0) >= minShare * charged)
  if (material.length < billed.length) {
    billed = material
    divided = sharesOf()
  }
  const base = perConversation(noEdits)
  const sampled = (saved: (conversation: number) => number) =>
    workload.conversations.map(({ inclusion }, conversation) => ({
      charged: base[conversation] ?? 0,
      saved: saved(conversation),
      inclusion
    }))
  const projected = (saved: (conversation: number) => number) => project(sampled(saved), seed)
  const findings = billed.map(({ cause, finding, tier }, position) => ({
    cause,
    tier,
    finding,
    shareMicroUsd: divided.shares[position] ?? 0,
    aloneMicroUsd: divided.alone[position] ?? 0,
    projection: projected((conversation) => divided.perConversation[position]?.[conversation] ?? 0),
    conversations: conversationsOf(workload, finding)
  }))
  const savedBy = (edits: Edits): number =>
    edits.size === 0 ? 0 : Math.max(0, Math.floor(sumOf(base) - sumOf(perConversation(edits))))
  const rest = [...unsure, ...found.filter(({ tier }) => tier === "info")].map(({ cause, finding, tier }) => ({
    cause,
    tier,
    finding,
    shareMicroUsd: 0,
    aloneMicroUsd: finding.edits.size > 0 ? savedBy(finding.edits) : statedBy(finding, workload),
    projection: undefined,
    conversations: conversationsOf(workload, finding)
  }))
  const edited = rest.filter(({ finding, tier }) => tier === "hypothesis" && finding.edits.size > 0)
  const stated = rest.filter(({ finding, tier }) => tier === "hypothesis" && finding.edits.size === 0)
  const together = [savedBy(unionOf(edited.map(({ finding }) => finding.edits))), ...edited.map(aloneOf)]
  return {
    chargedMicroUsd: charged,
    avoidableMicroUsd: divided.joint,
    hypothesesMicroUsd: Math.min(charged, stated.map(aloneOf).reduce(added, Math.max(...together))),
    findings: [
      ...findings.sort((a, b) => b.shareMicroUsd - a.shareMicroUsd || a.cause.number - b.cause.number),
      ...rest
    ],
    modelErrors: rebill.modelErrors,
    effectiveConversations: effectiveCount(sampled(() => 0)),
    projection: projected((conversation) =>
      divided.perConversation.reduce((sum, shares) => sum + (shares[conversation] ?? 0), 0)
    )
  }
}

/** The finding without the calls that are in no figure; their edits stay, since what they cache is read by the others. */
const ofRange = (finding: Finding | undefined, { calls }: Workload): Finding | undefined => {
  if (finding === undefined) return undefined
  const isCounted = (call: number) => calls[call]?.isInRange === true
  const counted = new Set([...finding.calls].filter(isCounted))
  return counted.size === 0
    ? undefined
    : { ...finding, calls: counted, evidence: finding.evidence.filter(({ call }) => isCounted(call)) }
}

/** What a finding without edits says of its calls, at list prices: at most what these were charged. */
const statedBy = ({ calls, figures }: Finding, workload: Workload): number =>
  Math.min(
    figures?.["up_to_microusd"] ?? 0,
    [...calls].map((call) => workload.calls[call]?.chargedMicroUsd ?? 0).reduce(added, 0)
  )

const aloneOf = ({ aloneMicroUsd }: Pick<CauseFinding, "aloneMicroUsd">): number => aloneMicroUsd

const added = (a: number, b: number): number => a + b

/** Calls that would not be made without the waste. */
const leftOutBy = (found: ReadonlyArray<{ readonly finding: Finding }>): ReadonlySet<number> =>
  new Set(found.flatMap(({ finding: { edits } }) => [...edits].flatMap(([call, { drop }]) => (drop ? [call] : []))))

/**
 * What was charged, of what is computed, by position of the call: that of its route, since where the model of one provider's bills is
 * wrong, the others are not. A call that would be left out has its own: it saves what the ledger says that it was charged.
 */
const scalesOf = ({ calls }: Workload, { microUsd }: Bill, leftOut: ReadonlySet<number>): Float64Array => {
  const sums = new Map<string, { charged: number; computed: number }>()
  calls.forEach(({ chargedMicroUsd, isInRange, route }, index) => {
    if (!isInRange || leftOut.has(index)) return
    const sum = sums.get(route) ?? { charged: 0, computed: 0 }
    sum.charged += chargedMicroUsd
    sum.computed += microUsd[index] ?? 0
    sums.set(route, sum)
  })
  return Float64Array.from(calls, ({ chargedMicroUsd, route }, index) => {
    const own = { charged: chargedMicroUsd, computed: microUsd[index] ?? 0 }
    const { charged, computed } = leftOut.has(index) ? own : (sums.get(route) ?? own)
    return computed === 0 ? 0 : charged / computed
  })
}

/** Enough to say something of: as few conversations as this say nothing sure, unless an amount of the ledger is wasted. */
export const isSufficient = ({ effectiveConversations, findings }: Diagnosis, samples: number): boolean =>
  (samples >= minSamples && effectiveConversations >= minEffective) || findings.some(({ tier }) => tier === "exact")

export const minSamples = 30

const tierOf = (cause: Cause, finding: Finding, rebill: Rebill): Cause["tier"] => {
  if (cause.tier !== "rebilled") return cause.tier
  const wrong = new Set(rebill.modelErrors.filter(({ share }) => share > maxModelError).map(({ route }) => route))
  const onWrong = [...finding.calls].filter((call) => wrong.has(rebill.workload.calls[call]?.route ?? "")).length
  return onWrong > finding.calls.size / 2 ? "hypothesis" : "rebilled"
}

const conversationsOf = ({ calls }: Workload, finding: Finding): number =>
  new Set([...finding.calls].map((call) => calls[call]?.conversation)).size

const sumOf = (amounts: Float64Array): number => amounts.reduce(added, 0)
