import { diagnose } from "../../../src/analysis/Diagnose.ts"
import { Preparation } from "../../../src/analysis/Prepare.ts"
import { countsOf } from "../../../src/analysis/Tokens.ts"
import { applicationOf, cacheOfSimulated, generate, spentOf, truthOf } from "./Application.ts"

export interface CauseScore {
  truePositives: number
  falsePositives: number
  falseNegatives: number
  /** Estimated by true saving, of what was found. */
  readonly ratios: Array<number>
}

/** Below this share of the spend neither a plant nor a claim counts. */
const material = 0.0125

/** How well planted causes are found, by cause. */
export const precisionOf = (seeds: Iterable<number>, log: (line: string) => void = () => undefined) => {
  const scores = new Map<string, CauseScore>()
  const scoreOf = (cause: string): CauseScore => {
    const known = scores.get(cause)
    if (known !== undefined) return known
    const fresh: CauseScore = { truePositives: 0, falsePositives: 0, falseNegatives: 0, ratios: [] }
    scores.set(cause, fresh)
    return fresh
  }
  let calls = 0
  for (const seed of seeds) {
    const app = applicationOf(seed)
    const conversations = generate(app)
    const preparation = new Preparation(countsOf, cacheOfSimulated)
    for (const { calls: each, id } of conversations) {
      preparation.add({ conversation: id, inclusion: 1 }, each)
      calls += each.length
    }
    const spent = spentOf(conversations)
    const { findings } = diagnose(preparation.workload(), seed)
    const claimed = new Map(
      findings
        .filter(
          ({ shareMicroUsd, tier }) => tier !== "info" && tier !== "hypothesis" && shareMicroUsd >= material * spent
        )
        .map(({ aloneMicroUsd, cause }) => [cause.id, aloneMicroUsd])
    )
    const any = new Map(findings.map(({ aloneMicroUsd, cause }) => [cause.id, aloneMicroUsd]))
    for (const plant of app.plants) {
      const truth = truthOf(app, plant)
      const estimate = any.get(plant)
      if (truth < material * spent) continue
      if (estimate === undefined || estimate === 0) {
        scoreOf(plant).falseNegatives++
        log(`seed ${seed} ${app.shape}: ${plant} missed (${truth} of ${spent}; plants ${[...app.plants]})`)
      } else {
        scoreOf(plant).truePositives++
        scoreOf(plant).ratios.push(estimate / truth)
        if (Math.abs(estimate / truth - 1) > 0.25) {
          log(
            `seed ${seed} ${app.shape}: ${plant} ${estimate} for ${truth} of ${spent} (plants ${[...app.plants]}; traps ${[...app.traps]})`
          )
        }
      }
    }
    for (const [cause, estimate] of claimed) {
      if (app.plants.has(cause)) continue
      scoreOf(cause).falsePositives++
      log(
        `seed ${seed} ${app.shape}: ${cause} claimed (${estimate} of ${spent}; plants ${[...app.plants]}; traps ${[...app.traps]})`
      )
    }
  }
  return { scores, calls }
}
