import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { maxDaysOfHours } from "../../wire/account/Activity.ts"

export interface RetentionStoreShape {
  /**
   * Deletes one portion of the calls that are older, with their attempts and holds; returns how many rows of calls and holds. With
   * `null` these stay, and only sums of hours go that nothing shows any more.
   */
  readonly deleteOld: (callDays: number | null) => Effect.Effect<number, StoreUnavailable>
}

/** Deletes old calls in portions that are each done within a moment. */
export class RetentionStore extends Context.Tag("gateway/account/RetentionStore")<
  RetentionStore,
  RetentionStoreShape
>() {
  static readonly layer: Layer.Layer<RetentionStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => ({
      deleteOld: (callDays: number | null) =>
        sql`select retention_delete(${`${callDays ?? foreverDays} days`}::interval, ${`${maxDaysOfHours + 1} days`}::interval,
          ${maxPerPortion}) as deleted`.pipe(
          Effect.flatMap(decodeDeleted),
          Effect.map(([{ deleted }]) => deleted),
          fromSql
        )
    }))
  )
}

const maxPerPortion = 500
/** Before this no call was made, and a timestamp can still express it. */
const foreverDays = 1_000_000

const decodeDeleted = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ deleted: Schema.Int })))
