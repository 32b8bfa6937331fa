import { random } from "./Decompose.ts"

/** One conversation: what it was charged, what of that was avoidable, and how probable it was to be in the sample. */
export interface Sampled {
  readonly charged: number
  readonly saved: number
  readonly inclusion: number
}

export interface Projection {
  /** Share of the spend that is avoidable, weighted by 1 / inclusion. */
  readonly share: number
  /** The share is at least this with probability .975; 0 or more. */
  readonly atLeast: number
  /** Two-sided, 90 %; `null` below 50 effective conversations. */
  readonly likely: readonly [number, number] | null
}

/** How many equally weighted conversations say as much, by Kish; conversations count as much as they cost. */
export const effectiveCount = (sample: ReadonlyArray<Sampled>): number => {
  let sum = 0
  let squares = 0
  for (const { charged, inclusion } of sample) {
    const weight = charged / inclusion
    sum += weight
    squares += weight * weight
  }
  return squares === 0 ? 0 : (sum * sum) / squares
}

export const minEffective = 20
const minEffectiveForLikely = 50

/**
 * What a sample of conversations says of all of them; `undefined` below 20 effective conversations. Calls of one conversation
 * are not independent: the conversation is the unit.
 */
export const project = (sample: ReadonlyArray<Sampled>, seed: number): Projection | undefined => {
  const effective = effectiveCount(sample)
  if (effective < minEffective) return undefined
  const { error, ratio } = ratioOf(sample)
  const atLeast = Math.max(0, ratio - quantileOfT(0.975, Math.max(1, effective - 1)) * error)
  return {
    share: ratio,
    atLeast,
    likely: effective < minEffectiveForLikely ? null : above(atLeast, studentised(sample, ratio, error, seed))
  }
}

/** Without what the lower bound excludes: where one conversation is unlike the others, resamples without it stretch the range. */
const above = (atLeast: number, [low, high]: readonly [number, number]): readonly [number, number] => [
  Math.max(atLeast, low),
  Math.max(atLeast, high)
]

const ratioOf = (sample: ReadonlyArray<Sampled>): { readonly ratio: number; readonly error: number } => {
  let saved = 0
  let charged = 0
  for (const each of sample) {
    saved += each.saved / each.inclusion
    charged += each.charged / each.inclusion
  }
  if (charged === 0) return { ratio: 0, error: 0 }
  const ratio = saved / charged
  let squares = 0
  for (const each of sample) squares += ((each.saved - ratio * each.charged) / each.inclusion) ** 2
  const n = sample.length
  return { ratio, error: Math.sqrt((n / Math.max(1, n - 1)) * squares) / charged }
}

const resamples = 400

/** Bootstrap-t at 95 %, stated as 90 %: that is what it covers for conversations of uneven cost. */
const studentised = (
  sample: ReadonlyArray<Sampled>,
  ratio: number,
  error: number,
  seed: number
): readonly [number, number] => {
  if (error === 0) return [ratio, ratio]
  const next = random(seed)
  const statistics: Array<number> = []
  for (let round = 0; round < resamples; round++) {
    const again = sample.map((each) => sample[Math.floor(next() * sample.length)] ?? each)
    const drawn = ratioOf(again)
    if (drawn.error > 0) statistics.push((drawn.ratio - ratio) / drawn.error)
  }
  statistics.sort((a, b) => a - b)
  const low = statistics[Math.floor(0.025 * statistics.length)] ?? 0
  const high = statistics[Math.ceil(0.975 * statistics.length) - 1] ?? 0
  return [Math.max(0, ratio - high * error), Math.min(1, Math.max(0, ratio - low * error))]
}

/** Quantile of Student's t, by Cornish and Fisher's expansion: within .001 from 19 degrees on. */
export const quantileOfT = (probability: number, degrees: number): number => {
  const z = quantileOfNormal(probability)
  const n = degrees
  return (
    z +
    (z ** 3 + z) / (4 * n) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * n ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * n ** 3)
  )
}

/** By Acklam's rational approximation for the middle of the distribution, from .02425 to .97575. */
const quantileOfNormal = (probability: number): number => {
  const q = probability - 0.5
  const r = q * q
  const above =
    (((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r -
      30.66479806614716) *
      r +
      2.506628277459239) *
    q
  const below =
    ((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r -
      13.28068155288572) *
      r +
    1
  return above / below
}
