import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CallStatus } from "../../domain/Call.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface FeedbackStoreShape {
  /** A call of the project; `undefined` for one of another, and for one that has not been written. */
  readonly find: (project: ProjectId, id: string) => Effect.Effect<GradedCall | undefined, StoreUnavailable>
}

/** The calls that feedback is about. */
export class FeedbackStore extends Context.Tag("gateway/account/FeedbackStore")<FeedbackStore, FeedbackStoreShape>() {
  static readonly layer: Layer.Layer<FeedbackStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const GradedCall = Schema.Struct({
  model: Schema.NullOr(Schema.String),
  status: CallStatus,
  features: Schema.NullOr(Schema.String)
})
export type GradedCall = typeof GradedCall.Type

const decodeRows = Schema.decodeUnknown(Schema.Array(GradedCall))

const make = (sql: SqlClient): FeedbackStoreShape => ({
  find: (project, id) =>
    sql`select model, status, features from call where id = ${id} and project_id = ${project}`.pipe(
      Effect.flatMap(decodeRows),
      Effect.map(([row]) => row),
      fromSql
    )
})
