import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

/** Calls that were written from `from` on and before `to`. */
export interface PastRange {
  readonly from: Date
  readonly to: Date
}

export interface PastCallStoreShape {
  /**
   * The newest calls that named no model, the newest first; of the range, where there is one. Only the newest `maxScanned` calls of
   * the project, or of its range, are read.
   */
  readonly newest: (
    project: ProjectId,
    limit: number,
    range?: PastRange
  ) => Effect.Effect<ReadonlyArray<PastCallRow>, StoreUnavailable>
}

/** What the router saw of calls. */
export class PastCallStore extends Context.Tag("gateway/account/PastCallStore")<PastCallStore, PastCallStoreShape>() {
  static readonly layer = (options: PastCallStoreOptions = {}): Layer.Layer<PastCallStore, never, AccountSql> =>
    Layer.effect(
      this,
      Effect.map(AccountSql, (sql) => make(sql, options.maxScanned ?? defaultMaxScanned))
    )
}

export interface PastCallStoreOptions {
  /** Calls that are read at most, with those that named a model. */
  readonly maxScanned?: number
}

const defaultMaxScanned = 10_000

const PastCallRow = Schema.Struct({
  features: Schema.String,
  routingConfig: Schema.NullOr(Schema.String),
  costMicroUsd: Int8,
  endedAt: Schema.DateFromSelf
})
export type PastCallRow = typeof PastCallRow.Type

const decodeRows = Schema.decodeUnknown(Schema.Array(PastCallRow))

const make = (sql: SqlClient, maxScanned: number): PastCallStoreShape => ({
  newest: (project, limit, range) =>
    sql`select features, routing_config as "routingConfig", cost_micro_usd as "costMicroUsd", written_at as "endedAt"
      from (
        select id, features, routing_config, cost_micro_usd, written_at from call
        where project_id = ${project}
          and ${range === undefined ? sql`true` : sql`written_at >= ${range.from} and written_at < ${range.to}`}
        order by written_at desc, id desc limit ${maxScanned}
      ) scanned
      where features is not null order by written_at desc, id desc limit ${limit}`.pipe(
      Effect.flatMap(decodeRows),
      fromSql
    )
})
