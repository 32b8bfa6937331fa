import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

/** What is compared with the answer that was served: a degraded copy, the candidate's answer, the incumbent's own new answer. */
export const arms = ["plant", "candidate", "placebo"] as const
export type Arm = (typeof arms)[number]

/** One comparison of an analysis. */
export interface ItemKey {
  readonly analysisId: string
  readonly question: string
  readonly sample: string
  readonly arm: Arm
}

/** failed: nothing could be compared, which says nothing about answers. unanswered: by its own fault the candidate has no answer. */
export type ItemResult =
  | { readonly outcome: "failed" }
  | { readonly outcome: "unanswered" }
  | {
      readonly outcome: "compared"
      /** -1 to 1: above 0 where the new answer is better. */
      readonly difference: number
      readonly judged: boolean
      /** Orders in which the judge could not be read. */
      readonly unreadable: number
    }

/** `undefined`: it was started and not ended. */
export interface Item extends ItemKey {
  readonly result: ItemResult | undefined
}

export interface ReplayItemsShape {
  /**
   * False where it was started before, by this or another process, in this or an earlier run, and where the analysis was deleted:
   * what deletes it waits for this, and finds the comparison.
   */
  readonly start: (key: ItemKey) => Effect.Effect<boolean, StoreUnavailable>
  /** Once: a result that is there stays. */
  readonly end: (key: ItemKey, result: ItemResult) => Effect.Effect<void, StoreUnavailable>
  readonly list: (analysisId: string) => Effect.Effect<ReadonlyArray<Item>, StoreUnavailable>
}

/** The comparisons of analyses: started before anything is paid, so that none is paid for twice, whatever crashes. */
export class ReplayItems extends Context.Tag("gateway/analysis/ReplayItems")<ReplayItems, ReplayItemsShape>() {
  static readonly layer: Layer.Layer<ReplayItems, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const ItemRow = Schema.Struct({
  analysisId: Schema.String,
  question: Schema.String,
  sample: Schema.String,
  arm: Schema.Literal(...arms),
  outcome: Schema.NullOr(Schema.Literal("compared", "failed")),
  difference: Schema.NullOr(Schema.Number),
  judged: Schema.NullOr(Schema.Boolean),
  unreadable: Schema.NullOr(Schema.Int)
})
const decodeItems = Schema.decodeUnknown(Schema.Array(ItemRow))
const decodeStarted = Schema.decodeUnknown(Schema.Array(Schema.Struct({ arm: Schema.String })))

const make = (sql: SqlClient): ReplayItemsShape => ({
  start: ({ analysisId, arm, question, sample }) =>
    sql`insert into analysis_item (analysis_id, question, sample, arm)
      select id, ${question}, ${sample}::uuid, ${arm} from analysis where id = ${analysisId} for key share
      on conflict do nothing returning arm`.pipe(
      Effect.flatMap(decodeStarted),
      Effect.map((rows) => rows.length === 1),
      fromSql
    ),
  end: ({ analysisId, arm, question, sample }, result) => {
    const { difference, judged, outcome, unreadable } =
      result.outcome === "compared" ? result : result.outcome === "failed" ? nothing : lost
    return sql`update analysis_item set outcome = ${outcome}, difference = ${difference}, judged = ${judged},
        unreadable = ${unreadable}
      where analysis_id = ${analysisId} and question = ${question} and sample = ${sample} and arm = ${arm}
        and outcome is null`.pipe(Effect.asVoid, fromSql)
  },
  list: (analysisId) =>
    sql`select analysis_id as "analysisId", question, sample, arm, outcome, difference, judged, unreadable
      from analysis_item where analysis_id = ${analysisId}`.pipe(
      Effect.flatMap(decodeItems),
      Effect.map((rows) => rows.map(itemOf)),
      fromSql
    )
})

const nothing = { outcome: "failed", difference: null, judged: null, unreadable: null } as const
/** No other row is like it: a difference that is not judged is 0. */
const lost = { outcome: "compared", difference: -1, judged: false, unreadable: 0 } as const

const itemOf = ({ difference, judged, outcome, unreadable, ...key }: typeof ItemRow.Type): Item => {
  if (outcome === null) return { ...key, result: undefined }
  // the table's checks: a comparison has all three
  if (difference === null || judged === null || unreadable === null) return { ...key, result: { outcome: "failed" } }
  return difference === lost.difference && !judged
    ? { ...key, result: { outcome: "unanswered" } }
    : { ...key, result: { outcome: "compared", difference, judged, unreadable } }
}
