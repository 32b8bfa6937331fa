import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { KeyId, ProjectId } from "../domain/Ids.ts"
import { AccountSql } from "../sql/AccountDatabase.ts"
import { Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import { limitOf } from "./Scopes.ts"

/** How often a limit resets, at 00:00 UTC; a week starts on Monday. */
export const LimitReset = Schema.Literal("day", "week", "month")
export type LimitReset = typeof LimitReset.Type

const SpendLimit = Schema.Struct({
  /** `null` is no limit. */
  limitMicroUsd: Schema.NullOr(Int8),
  /** `null`: the limit never resets. */
  limitReset: Schema.NullOr(LimitReset),
  /** In the current period of the limit; without one, in total. */
  spentMicroUsd: Int8,
  /** In total, whatever the period of the limit. */
  totalSpentMicroUsd: Int8
})
export type SpendLimit = typeof SpendLimit.Type

export interface SpendLimitStoreShape {
  readonly read: (id: KeyId | ProjectId) => Effect.Effect<SpendLimit, StoreUnavailable>
  /** Takes effect at the next reservation on any node. What was spent in the current period counts, whenever the period is set. */
  readonly set: (
    id: KeyId | ProjectId,
    limit: Pick<SpendLimit, "limitMicroUsd" | "limitReset">
  ) => Effect.Effect<void, StoreUnavailable>
}

/** The spend limits of keys and projects, with their periods. */
export class SpendLimitStore extends Context.Tag("gateway/ledger/SpendLimitStore")<
  SpendLimitStore,
  SpendLimitStoreShape
>() {
  static readonly layer: Layer.Layer<SpendLimitStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const read = SqlSchema.single({
    Request: Schema.String,
    Result: SpendLimit,
    execute: (id) => sql`
      select s.limit_micro_usd as "limitMicroUsd", s.limit_reset as "limitReset",
        s.spent_micro_usd - scope_base(s) as "spentMicroUsd", s.spent_micro_usd as "totalSpentMicroUsd"
      from scope s where s.id = ${id} and s.kind <> 'account'`
  })
  return SpendLimitStore.of({
    read: (id) =>
      fromSql(
        Effect.catchIf(read(id), Cause.isNoSuchElementException, () =>
          Effect.dieMessage(`no project or key has the scope ${id}`)
        )
      ),
    set: (id, { limitMicroUsd, limitReset }) =>
      fromSql(
        Effect.suspend(() =>
          Effect.asVoid(sql`
            update scope set limit_micro_usd = ${limitOf(limitMicroUsd)}, limit_reset = ${limitReset}
            where id = ${id} and kind <> 'account'`)
        )
      )
  })
})
