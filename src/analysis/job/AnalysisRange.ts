import type { AnalysedCall } from "../../domain/CapturedCall.ts"
import type { AnalysisRow } from "./AnalysisStore.ts"

type Ranged = Pick<AnalysisRow, "rangeEnd" | "rangeStart">

export const rangeOf = ({ rangeEnd, rangeStart }: Ranged) => ({ from: rangeStart, to: rangeEnd })

/** Those from before the range too: they tell what was cached and asked before, and are in no figure. */
export const untilEnd = ({ rangeEnd }: Ranged, calls: ReadonlyArray<AnalysedCall>): ReadonlyArray<AnalysedCall> =>
  calls.filter(({ capturedAt }) => capturedAt < rangeEnd.getTime())

export const inRange = (range: Ranged, calls: ReadonlyArray<AnalysedCall>): ReadonlyArray<AnalysedCall> =>
  untilEnd(range, calls).filter(({ capturedAt }) => capturedAt >= range.rangeStart.getTime())
