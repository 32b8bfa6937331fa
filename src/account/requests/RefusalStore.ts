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
import { RefusalOut } from "../../wire/account/Refusals.ts"

/** A refusal with the project that it belongs to; its key is named when it is read. */
export interface Refusal extends Omit<RefusalOut, "key_name"> {
  readonly projectId: ProjectId
}

export interface RefusalPage {
  readonly items: ReadonlyArray<RefusalOut>
  /** The id of the refusal after which the list goes on; `null` at its end. */
  readonly next: string | null
}

export interface RefusalStoreShape {
  /** Writes them, and removes all but the newest of their projects. */
  readonly write: (refusals: ReadonlyArray<Refusal>) => Effect.Effect<void, StoreUnavailable>
  /** The newest first. */
  readonly page: (
    project: ProjectId,
    after: string | null,
    limit: number
  ) => Effect.Effect<RefusalPage, StoreUnavailable>
}

/** The newest refusals of each project. */
export class RefusalStore extends Context.Tag("gateway/account/RefusalStore")<RefusalStore, RefusalStoreShape>() {
  static readonly layer: Layer.Layer<RefusalStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

/** Kept of each project. */
export const maxRefusals = 1_000

const CountOrNull = Schema.NullOr(Int8)

const Row = Schema.Struct({
  ...RefusalOut.fields,
  needed_microusd: CountOrNull,
  remaining_microusd: CountOrNull,
  held_microusd: CountOrNull,
  remaining_requests: CountOrNull,
  remaining_tokens: CountOrNull,
  retry_after_ms: CountOrNull,
  refused_at: Schema.DateFromSelf
})
const decodeRows = Schema.decodeUnknown(Schema.Array(Row))

const make = (sql: SqlClient): RefusalStoreShape => ({
  write: (refusals) =>
    Effect.zipRight(
      sql`insert into refusal (id, project_id, key_id, requested_model, endpoint, status, code, message, scope, reason,
          needed_micro_usd, remaining_micro_usd, held_micro_usd, remaining_requests, remaining_tokens, retry_after_millis,
          refused_at)
        select r.id, r."projectId", r.key_id, r.requested_model, r.endpoint, r.status, r.code, r.message, r.scope, r.reason,
          r.needed_microusd, r.remaining_microusd, r.held_microusd, r.remaining_requests, r.remaining_tokens, r.retry_after_ms,
          r.refused_at
        from jsonb_to_recordset(${JSON.stringify(refusals)}::jsonb) as r(id uuid, "projectId" uuid, key_id uuid,
          requested_model text, endpoint text, status int, code text, message text, scope text, reason text,
          needed_microusd bigint, remaining_microusd bigint, held_microusd bigint, remaining_requests bigint,
          remaining_tokens bigint, retry_after_ms bigint, refused_at timestamptz)
        on conflict (id) do nothing`,
      sql`delete from refusal r using unnest(${[...new Set(refusals.map(({ projectId }) => projectId))]}::uuid[]) as p(id)
        cross join lateral (select refused_at, id from refusal where project_id = p.id order by refused_at desc, id desc
          offset ${maxRefusals - 1} limit 1) oldest
        where r.project_id = p.id and (r.refused_at, r.id) < (oldest.refused_at, oldest.id)`
    ).pipe(Effect.asVoid, fromSql),
  page: (project, after, limit) =>
    sql`select id, key_id, (select k.name from api_key k where k.id = refusal.key_id) as key_name, requested_model, endpoint, status, code, message, scope, reason,
        needed_micro_usd as needed_microusd, remaining_micro_usd as remaining_microusd, held_micro_usd as held_microusd,
        remaining_requests, remaining_tokens, retry_after_millis as retry_after_ms, refused_at
      from refusal where ${sql.and([
        sql`project_id = ${project}`,
        ...(after === null
          ? []
          : [
              sql`(refused_at, id) < ((select refused_at from refusal where id = ${after} and project_id = ${project}), ${after}::uuid)`
            ])
      ])} order by refused_at desc, id desc limit ${limit + 1}`.pipe(
      Effect.flatMap(decodeRows),
      Effect.map((found) => {
        const rows = found.slice(0, limit)
        const last = rows.at(-1)
        return {
          items: rows.map(({ refused_at, ...row }) => ({ ...row, refused_at: refused_at.toISOString() })),
          next: found.length > limit && last !== undefined ? last.id : null
        }
      }),
      fromSql
    )
})
