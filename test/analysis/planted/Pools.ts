import { random } from "../../../src/analysis/Decompose.ts"
import { project, type Sampled } from "../../../src/analysis/Interval.ts"

export const poolKinds = ["agents", "chat", "single", "mixed"] as const
export type PoolKind = (typeof poolKinds)[number]

/** How often the lower bound, and the likely range, hold the share of the population, over samples from it. */
export const coverageOf = (kind: PoolKind, samples: number, seed: number) => {
  const next = random(seed)
  const population = Array.from({ length: 4_000 }, () => conversationOf(kind, next))
  const truth =
    population.reduce((sum, { saved }) => sum + saved, 0) / population.reduce((sum, { charged }) => sum + charged, 0)
  let [held, within, given, likely] = [0, 0, 0, 0]
  for (let i = 0; i < samples; i++) {
    const sample = Array.from({ length: 120 }, () => population[Math.floor(next() * population.length)] as Sampled)
    const projection = project(sample, seed + i)
    if (projection === undefined) continue
    given++
    if (projection.atLeast <= truth) held++
    if (projection.likely === null) continue
    likely++
    if (projection.likely[0] <= truth && truth <= projection.likely[1]) within++
  }
  return { given, held: held / given, likely, within: within / Math.max(1, likely) }
}

const conversationOf = (kind: PoolKind, next: () => number): Sampled => {
  const one = kind === "mixed" ? (["agents", "chat", "single"] as const)[Math.floor(next() * 3)] : kind
  const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const size =
    one === "agents"
      ? Math.exp(7 + 0.8 * normal)
      : one === "chat"
        ? Math.exp(5 + 0.7 * normal)
        : Math.exp(4 + 0.4 * normal)
  const wasteful = next() < (one === "single" ? 0.2 : 0.45)
  return { charged: size, saved: wasteful ? size * (0.1 + 0.5 * next()) : 0, inclusion: 1 }
}
