import type * as Effect from "effect/Effect"
import type { NotFound, SealingUnavailable } from "../../domain/AccountError.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import type { EngineFailed } from "./AnalysisEngine.ts"

/** What one run of an analysis does. */
export interface AnalysisWork {
  readonly run: Effect.Effect<Ending, EngineFailed | NotFound | SealingUnavailable | StoreUnavailable>
  /** The report of what it has got to when it is cancelled. */
  readonly partial: Effect.Effect<AnalysisReport | null, SealingUnavailable | StoreUnavailable>
}

export interface Ending {
  readonly status: "succeeded" | "failed" | "insufficient_data"
  readonly error: string | null
  /** `null`: the report that is there stays. */
  readonly report: AnalysisReport | null
}
