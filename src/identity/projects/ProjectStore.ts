import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { CallerShape } from "../../domain/Caller.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { type AccountId, ProjectId } from "../../domain/Ids.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface NewProject {
  readonly id: ProjectId
  readonly accountId: AccountId
  readonly name: string
  /** The project that the operator's file configures; the database rejects a second one. */
  readonly isDefault: boolean
}

export interface ProjectStoreShape {
  readonly create: (project: NewProject) => Effect.Effect<void, StoreUnavailable>
  readonly findDefault: Effect.Effect<ProjectId | undefined, StoreUnavailable>
  /** False when there is no such project. */
  readonly setBillingMode: (
    project: ProjectId,
    mode: CallerShape["billingMode"]
  ) => Effect.Effect<boolean, StoreUnavailable>
}

/** Projects without their policies, which are in `policy/PolicyStore`. */
export class ProjectStore extends Context.Tag("gateway/identity/ProjectStore")<ProjectStore, ProjectStoreShape>() {
  static readonly layer: Layer.Layer<ProjectStore, never, SqlClient | ChangeNotifications> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const Found = Schema.Struct({ id: ProjectId })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications

  const findDefault = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Found,
    execute: () => sql`select id from project where is_default`
  })
  const updateBillingMode = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, mode: Schema.Literal("managed", "byok") }),
    Result: Found,
    execute: ({ mode, project }) => sql`
      update project set billing_mode = ${mode}, updated_at = now() where id = ${project} returning id`
  })
  const insert = (project: NewProject) => sql`
    insert into project (id, account_id, name, is_default)
    values (${project.id}, ${project.accountId}, ${project.name}, ${project.isDefault})`

  return ProjectStore.of({
    create: flow(insert, Effect.asVoid, fromSql),
    findDefault: findDefault().pipe(
      Effect.map((found) => Option.getOrUndefined(found)?.id),
      fromSql
    ),
    setBillingMode: (project, mode) =>
      changes.commit((announce) =>
        updateBillingMode({ project, mode }).pipe(
          Effect.tap(() => announce({ kind: "project", id: project })),
          Effect.map(Option.isSome)
        )
      )
  })
})
