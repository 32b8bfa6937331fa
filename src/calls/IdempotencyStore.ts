import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId, KeyId, ProjectId, RequestId } from "../domain/Ids.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import { defaultSilenceSeconds } from "../ledger/Recovery.ts"
import { Database } from "../sql/Database.ts"
import { deleteWhere } from "../sql/Portions.ts"
import { fromSql } from "../sql/StoreErrors.ts"

/** The Idempotency-Key of a request, unique per API key. */
export interface IdempotentId {
  readonly keyId: KeyId
  readonly idempotencyKey: string
}

/** A run of the request with this Idempotency-Key; its call has the same id. */
export interface IdempotentRun extends IdempotentId {
  readonly runId: RequestId
}

export interface Claim extends IdempotentRun {
  readonly projectId: ProjectId
  readonly accountId: AccountId
  readonly requestHash: Uint8Array
}

/** The request that has an Idempotency-Key, where it is not the one that claimed it. */
export const Found = Schema.Union(
  Schema.Struct({ state: Schema.Literal("running"), requestHash: Schema.Uint8ArrayFromSelf }),
  Schema.Struct({
    state: Schema.Literal("finished"),
    requestHash: Schema.Uint8ArrayFromSelf,
    status: Schema.Int,
    contentType: Schema.String,
    headers: Schema.Record({ key: Schema.String, value: Schema.String }),
    sealed: Schema.Uint8ArrayFromSelf
  })
)
export type Found = typeof Found.Type

export interface IdempotencyStoreShape {
  /**
   * `undefined`: the claim succeeded. A claim whose hold has expired, or whose node is dead and holds nothing for it, is
   * taken over.
   */
  readonly claim: (claim: Claim) => Effect.Effect<Found | undefined, StoreUnavailable>
  /** The Idempotency-Key can be used again. */
  readonly release: (run: IdempotentRun) => Effect.Effect<void, StoreUnavailable>
  /** Releases what this process has claimed and neither runs nor holds money for any more. */
  readonly releaseLost: (running: ReadonlyArray<RequestId>) => Effect.Effect<void, StoreUnavailable>
  readonly sweep: Effect.Effect<void, StoreUnavailable>
}

export class IdempotencyStore extends Context.Tag("gateway/calls/IdempotencyStore")<
  IdempotencyStore,
  IdempotencyStoreShape
>() {
  static readonly layer: Layer.Layer<IdempotencyStore, SqlError, SqlClient | Database | LedgerNode> = Layer.effect(
    this,
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const node = yield* LedgerNode
      const { kind } = yield* Database
      // No other process can have it open, so every other claim belongs to one that is gone.
      if (kind === "embedded") {
        yield* sql`delete from idempotent_request where state = 'running' and node is distinct from ${node.id}`
      }
      return make(sql, node.id)
    })
  )
}

/** Longer than a claim may be on its way to the database: until then it may belong to a run that began after the list was made. */
const claimSettles = "30 seconds"
/** Claims of dead processes that nobody asks for again are kept no longer than responses. */
const abandoned = "24 hours"

const Claimed = Schema.Struct({ state: Schema.Literal("claimed") })
const decodeClaimed = Schema.decodeUnknown(Schema.Tuple(Schema.Union(Claimed, Found)))

const make = (sql: SqlClient, nodeId: string): IdempotencyStoreShape => ({
  claim: ({ accountId, idempotencyKey, keyId, projectId, requestHash, runId }) =>
    fromSql(
      Effect.flatMap(
        sql`select o_state as state, o_hash as "requestHash", o_status as status, o_content_type as "contentType",
            o_headers as headers, o_answer as sealed
          from idempotency_claim(${keyId}, ${idempotencyKey}, ${runId}, ${requestHash}, ${projectId}, ${accountId},
            ${nodeId}, ${`${defaultSilenceSeconds} seconds`}::interval)`,
        decodeClaimed
      )
    ).pipe(Effect.map(([found]) => (found.state === "claimed" ? undefined : found))),
  release: ({ idempotencyKey, keyId, runId }) =>
    fromSql(
      sql`delete from idempotent_request
        where key_id = ${keyId} and idempotency_key = ${idempotencyKey} and run_id = ${runId} and state = 'running'`
    ).pipe(Effect.asVoid),
  releaseLost: (running) =>
    fromSql(
      sql`delete from idempotent_request r
        where r.state = 'running' and r.node = ${nodeId} and r.claimed_at < now() - ${claimSettles}::interval
          and r.run_id <> all (${`{${running.join(",")}}`}::uuid[])
          and not exists (select from hold h where h.id = r.run_id and h.state = 'held')`
    ).pipe(Effect.asVoid),
  sweep: Effect.zipRight(
    deleteWhere(sql, "idempotent_request", sql`expires_at <= now()`),
    deleteWhere(
      sql,
      "idempotent_request",
      sql`state = 'running' and node is not null and claimed_at < now() - ${abandoned}::interval
        and not exists (select from node n where n.id = idempotent_request.node)`
    )
  ).pipe(Effect.asVoid, fromSql)
})
