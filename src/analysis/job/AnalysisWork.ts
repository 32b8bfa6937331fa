import type * as Effect from "effect/Effect"
import type { NotFound, SealingUnavailable } from "../../domain/AccountError.ts"
import type { AnalysedCall } from "../../domain/CapturedCall.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import type { EngineFailed } from "./AnalysisEngine.ts"
import type { AnalysisRow } from "./AnalysisStore.ts"

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

type Ranged = Pick<AnalysisRow, "rangeEnd" | "rangeStart">

export const rangeOf = ({ rangeEnd, rangeStart }: Ranged) => ({ from: rangeStart, to: rangeEnd })

/** Those from before the range too: they tell what was cached and asked before, and are in no figure. */
export const untilEnd = ({ rangeEnd }: Ranged, calls: ReadonlyArray<AnalysedCall>): ReadonlyArray<AnalysedCall> =>
  calls.filter(({ capturedAt }) => capturedAt < rangeEnd.getTime())

export const inRange = (range: Ranged, calls: ReadonlyArray<AnalysedCall>): ReadonlyArray<AnalysedCall> =>
  untilEnd(range, calls).filter(({ capturedAt }) => capturedAt >= range.rangeStart.getTime())
