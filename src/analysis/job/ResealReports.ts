import * as Effect from "effect/Effect"
import type { Resealed } from "../../credentials/SealedCredentials.ts"
import type { SealingUnavailable } from "../../domain/AccountError.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AnalysisStore } from "./AnalysisStore.ts"
import { ReportSeal } from "./ReportSeal.ts"

const portion = 100

/** Seals the reports of analyses with the current master key; can be repeated. */
export const resealReports: Effect.Effect<Resealed, SealingUnavailable | StoreUnavailable, AnalysisStore | ReportSeal> =
  Effect.flatMap(Effect.all([AnalysisStore, ReportSeal]), ([store, seal]) => {
    const after = (
      last: string | undefined,
      before: Resealed
    ): Effect.Effect<Resealed, SealingUnavailable | StoreUnavailable> =>
      Effect.gen(function* () {
        const rows = yield* store.reports(last, portion)
        const end = rows.at(-1)
        if (end === undefined) return before
        let { resealed, unreadable } = before
        for (const { id, sealed } of rows) {
          const made = yield* seal.resealed(id, sealed)
          if (made === undefined) unreadable++
          else if (made !== "current") {
            yield* store.resealReport(id, sealed, made)
            resealed++
          }
        }
        return yield* after(end.id, { resealed, unreadable })
      })
    return after(undefined, { resealed: 0, unreadable: 0 })
  })
