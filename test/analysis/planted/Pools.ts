import { random } from "../../../src/analysis/Decompose.ts"
import { effectiveCount, minEffective, project, type Sampled } from "../../../src/analysis/Interval.ts"
import { cutOf, sharesOf } from "../../../src/capture/Reservoir.ts"

export const poolKinds = ["agents", "chat", "single", "mixed"] as const
export type PoolKind = (typeof poolKinds)[number]

/** What samples of pools of conversations say of them: figures over all pools. */
export interface PoolFigures {
  /** Estimated by true total, in the mean: of what was charged, and of what was avoidable. */
  readonly charged: number
  readonly saved: number
  /** Pools for which a projection is given, and the share of them whose lower bound holds. */
  readonly given: number
  readonly held: number
  /** Pools for which a likely range is given, and the share of them whose range holds. */
  readonly likely: number
  readonly within: number
  /** Projections that are given below the number of effective conversations from which on there is one. */
  readonly unfounded: number
  /** Share of the conversations of samples whose probability is the sampling rate; that of the others is their class's threshold. */
  readonly byRate: number
}

interface Conversation {
  readonly class: string
  readonly position: number
  readonly samples: number
  readonly charged: number
  readonly saved: number
}

/** Each pool is a population of its own, with a collection of its own. */
export const figuresOf = (kind: PoolKind, pools: number, seed: number): PoolFigures => {
  const next = random(seed * poolKinds.length + poolKinds.indexOf(kind))
  let [charged, saved, held, within, given, likely, unfounded, taken, byRate] = [0, 0, 0, 0, 0, 0, 0, 0, 0]
  for (let pool = 0; pool < pools; pool++) {
    const population = Array.from({ length: perPool }, () => conversationOf(kind, next))
    const sample = collectedOf(population, maxSamples[kind])
    const truth = { charged: sumOf(population, "charged"), saved: sumOf(population, "saved") }
    const estimate = (of: "charged" | "saved") => sample.reduce((sum, one) => sum + one[of] / one.inclusion, 0)
    charged += estimate("charged") / truth.charged / pools
    saved += estimate("saved") / truth.saved / pools
    taken += sample.length
    byRate += sample.filter(({ inclusion }) => inclusion === samplingRate).length
    const projection = project(sample, seed + pool)
    if (projection === undefined) continue
    const share = truth.saved / truth.charged
    given++
    if (effectiveCount(sample) < minEffective) unfounded++
    if (projection.atLeast <= share) held++
    if (projection.likely === null) continue
    likely++
    if (projection.likely[0] <= share && share <= projection.likely[1]) within++
  }
  return {
    charged,
    saved,
    given,
    held: held / given,
    likely,
    within: within / Math.max(1, likely),
    unfounded,
    byRate: byRate / taken
  }
}

const perPool = 2_000
const samplingRate = 0.5
/** Room for some 250 conversations, and for 400 of mixed ones, whose costs differ most. */
const maxSamples: Readonly<Record<PoolKind, number>> = { agents: 6_000, chat: 1_500, single: 250, mixed: 4_200 }

/** What a collection keeps of the pool, with the probability of each conversation. */
const collectedOf = (population: ReadonlyArray<Conversation>, room: number): ReadonlyArray<Sampled> => {
  const offered = population.filter(({ position }) => position < samplingRate)
  const classes = new Map<string, Array<Conversation>>()
  for (const one of offered) classes.set(one.class, [...(classes.get(one.class) ?? []), one])
  const loads = [...classes].map(([name, own]) => ({ class: name, samples: sumOf(own, "samples"), isFull: false }))
  const shares = sharesOf(room, loads)
  return [...classes].flatMap(([name, own]) => {
    const last = own.toSorted((a, b) => b.position - a.position)
    const below = cutOf(last, sumOf(own, "samples"), shares.get(name) ?? 0)
    const inclusion = Math.min(samplingRate, below)
    return own.filter(({ position }) => position < below).map(({ charged, saved }) => ({ charged, saved, inclusion }))
  })
}

const sumOf = (all: ReadonlyArray<Conversation>, of: "charged" | "samples" | "saved"): number =>
  all.reduce((sum, one) => sum + one[of], 0)

/** Classes are of uneven size, and the smallest wastes most. */
const conversationOf = (kind: PoolKind, next: () => number): Conversation => {
  const one = kind === "mixed" ? (["agents", "chat", "single"] as const)[Math.floor(next() * 3)] : kind
  const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const [samples, size] =
    one === "agents"
      ? [10 + Math.floor(next() * 30), Math.exp(7 + 0.8 * normal)]
      : one === "chat"
        ? [3 + Math.floor(next() * 7), Math.exp(5 + 0.7 * normal)]
        : [1, Math.exp(4 + 0.4 * normal)]
  const draw = next()
  const [name, more] = draw < 0.7 ? ["large", 0] : draw < 0.97 ? ["middle", 0.1] : ["small", 0.4]
  const isWasteful = next() < (one === "single" ? 0.2 : 0.45) + more
  return {
    class: name,
    position: next(),
    samples,
    charged: size,
    saved: isWasteful ? size * (0.1 + 0.5 * next()) : 0
  }
}
