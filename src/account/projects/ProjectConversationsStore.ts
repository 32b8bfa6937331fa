import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ConversationId, type ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface ProjectConversationsStoreShape {
  /** Their content is erased later, as after any deletion. Returns those whose answer is being written, which is to stop. */
  readonly removeAll: (project: ProjectId) => Effect.Effect<ReadonlyArray<ConversationId>, StoreUnavailable>
}

/** The conversations of a project, for its deletion: nobody reaches them any more. */
export class ProjectConversationsStore extends Context.Tag("gateway/account/ProjectConversationsStore")<
  ProjectConversationsStore,
  ProjectConversationsStoreShape
>() {
  static readonly layer: Layer.Layer<ProjectConversationsStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const decodeRemoved = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ id: ConversationId, isRunning: Schema.Boolean }))
)

const make = (sql: SqlClient): ProjectConversationsStoreShape => ({
  removeAll: (project) =>
    sql`update conversation set deleted_at = coalesce(deleted_at, now()), stop_requested = turn_id is not null
      where project_id = ${project} returning id, turn_id is not null as "isRunning"`.pipe(
      Effect.flatMap(decodeRemoved),
      Effect.map((removed) => removed.filter(({ isRunning }) => isRunning).map(({ id }) => id)),
      fromSql
    )
})
