import type { ProjectId } from "./Ids.ts"
import type { PromptClass } from "./PromptClass.ts"

/** Where grades come from: replays of an analysis, or what applications say of answers. */
export const evidenceSources = ["analysis", "feedback"] as const
/** One of them. */
export type EvidenceSource = (typeof evidenceSources)[number]

/** Graded answers of one model to prompts of one class in one project. The status of a call is no grade. */
export interface GradedEvidence {
  /** Evidence of one project never moves the routing of another. */
  readonly projectId: ProjectId
  /** What the prompts asked for. */
  readonly promptClass: PromptClass
  /** Concrete id of the model that was graded. */
  readonly model: string
  readonly source: EvidenceSource
  /** The analysis, or the request that feedback is about: it counts once for each class and model. */
  readonly sourceId: string
  /** Mean grade on the router's scale of quality, 0 to 1. */
  readonly mean: number
  /** How many answers were graded; at least 1. */
  readonly grades: number
  /** The pairs behind a comparison with what had been served; `null` where answers were graded one by one. */
  readonly comparison: EvidenceComparison | null
  /** When it was graded, in milliseconds since the epoch. */
  readonly gradedAtMillis: number
}

/** How a comparison of two models came out, pair by pair. */
export interface EvidenceComparison {
  /** Concrete id of the model whose answers were served. */
  readonly incumbent: string
  readonly wins: number
  readonly losses: number
  readonly ties: number
  /** Mean difference of the incumbent to itself, -1 to 1; `null` where it was not measured. */
  readonly placeboMean: number | null
  /** Lower bound of the share of planted faults that the judge has found; `null` where none were planted. */
  readonly sensitivityLow: number | null
}

/** What the grades of one class and model say. */
export interface QualityRow {
  /** Mean grade on the router's scale, 0 to 1. */
  readonly mean: number
  /** Graded answers behind it, weighted by their age. */
  readonly n: number
}

/** Rows by class and model; a class or model without enough grades has none. */
export type QualityRows = { readonly [C in PromptClass]?: Readonly<Record<string, QualityRow>> }

/** The graded quality of models in one project. A version never changes, so that a decision can be repeated. */
export interface QualitySnapshot {
  readonly projectId: ProjectId
  /** From 1, ascending within the project. */
  readonly version: number
  readonly createdAtMillis: number
  readonly rows: QualityRows
}

/** The assumed quality counts as much as this many grades. */
const priorGrades = 20
/** Fewer say nothing. */
export const minGrades = 30
const halfLifeMillis = 30 * 86_400_000
/** From ten half-lives on, a thousand grades weigh less than one. */
export const maxEvidenceAgeMillis = 10 * halfLifeMillis

/** The rows of a snapshot that is made then: grades lose half their weight every 30 days. */
export const qualityRows = (evidence: ReadonlyArray<GradedEvidence>, atMillis: number): QualityRows => {
  const sums = new Map<PromptClass, Map<string, { grades: number; weighted: number }>>()
  for (const { gradedAtMillis, grades, mean, model, promptClass } of evidence) {
    const weight = grades * 0.5 ** (Math.max(0, atMillis - gradedAtMillis) / halfLifeMillis)
    const models = sums.get(promptClass) ?? new Map<string, { grades: number; weighted: number }>()
    sums.set(promptClass, models)
    const sum = models.get(model) ?? { grades: 0, weighted: 0 }
    models.set(model, { grades: sum.grades + weight, weighted: sum.weighted + weight * mean })
  }
  const rows: { [C in PromptClass]?: Record<string, QualityRow> } = {}
  for (const [promptClass, models] of sums) {
    for (const [model, { grades, weighted }] of models) {
      if (grades < minGrades) continue
      rows[promptClass] = { ...rows[promptClass], [model]: { mean: weighted / grades, n: grades } }
    }
  }
  return rows
}

/** The quality that a model is ranked by: its assumed quality, moved by its grades. */
export const gradedQuality = (assumed: number, row: QualityRow | undefined): number =>
  row === undefined ? assumed : (priorGrades * assumed + row.n * row.mean) / (priorGrades + row.n)
