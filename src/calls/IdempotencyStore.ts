import { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { KeyId, RequestId } from "../domain/Ids.ts"
import { fromSql } from "../sql/StoreErrors.ts"

/** The Idempotency-Key of a request, unique per API key. */
export interface IdempotentId {
  readonly keyId: KeyId
  readonly idempotencyKey: string
}

export interface Claim extends IdempotentId {
  readonly runId: RequestId
  readonly requestHash: Uint8Array
  /** After this time a run that has not finished counts as dead. */
  readonly abandonedAfterMillis: number
}

const Found = Schema.Struct({
  request_hash: Schema.Uint8ArrayFromSelf,
  state: Schema.Literal("running", "finished"),
  content_type: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.Uint8ArrayFromSelf)
})
export type Found = typeof Found.Type

export interface IdempotencyStoreShape {
  /** `undefined`: the claim succeeded. Otherwise the request that holds this Idempotency-Key. */
  readonly claim: (claim: Claim) => Effect.Effect<Found | undefined, StoreUnavailable>
  readonly finish: (
    run: IdempotentId & { readonly runId: RequestId },
    answer: { readonly contentType: string; readonly sealed: Uint8Array; readonly keptMillis: number }
  ) => Effect.Effect<void, StoreUnavailable>
  /** The Idempotency-Key can be used again. */
  readonly release: (run: IdempotentId & { readonly runId: RequestId }) => Effect.Effect<void, StoreUnavailable>
  readonly sweep: Effect.Effect<void, StoreUnavailable>
}

export class IdempotencyStore extends Context.Tag("gateway/calls/IdempotencyStore")<
  IdempotencyStore,
  IdempotencyStoreShape
>() {
  static readonly layer: Layer.Layer<IdempotencyStore, never, SqlClient> = Layer.effect(
    this,
    Effect.map(SqlClient, (sql) => make(sql))
  )
}

const decodeFound = Schema.decodeUnknown(Schema.Array(Found))

const make = (sql: SqlClient): IdempotencyStoreShape => {
  const millis = (value: number): string => `${value} milliseconds`
  const insert = (claim: Claim) =>
    sql`insert into idempotent_request (key_id, idempotency_key, run_id, request_hash, state, expires_at)
      values (${claim.keyId}, ${claim.idempotencyKey}, ${claim.runId}, ${claim.requestHash}, 'running',
        now() + ${millis(claim.abandonedAfterMillis)}::interval)
      on conflict (key_id, idempotency_key) do update
        set run_id = excluded.run_id, request_hash = excluded.request_hash, state = 'running', content_type = null,
          answer = null, expires_at = excluded.expires_at
        where idempotent_request.expires_at <= now()
      returning key_id`
  const find = (id: IdempotentId) =>
    Effect.flatMap(
      sql`select request_hash, state, content_type, answer from idempotent_request
        where key_id = ${id.keyId} and idempotency_key = ${id.idempotencyKey}`,
      decodeFound
    )
  const claim = (requested: Claim): Effect.Effect<Found | undefined, StoreUnavailable> =>
    fromSql(Effect.zip(insert(requested), find(requested))).pipe(
      Effect.flatMap(([claimed, [found]]) => {
        if (claimed.length > 0) return Effect.succeed(undefined)
        // Released between the two statements: it can be claimed now.
        return found === undefined ? claim(requested) : Effect.succeed(found)
      })
    )
  return {
    claim,
    finish: ({ idempotencyKey, keyId, runId }, { contentType, keptMillis, sealed }) =>
      fromSql(
        sql`update idempotent_request set state = 'finished', content_type = ${contentType}, answer = ${sealed},
          expires_at = now() + ${millis(keptMillis)}::interval
          where key_id = ${keyId} and idempotency_key = ${idempotencyKey} and run_id = ${runId}`
      ).pipe(Effect.asVoid),
    release: ({ idempotencyKey, keyId, runId }) =>
      fromSql(
        sql`delete from idempotent_request
          where key_id = ${keyId} and idempotency_key = ${idempotencyKey} and run_id = ${runId}`
      ).pipe(Effect.asVoid),
    sweep: Effect.asVoid(fromSql(sql`delete from idempotent_request where expires_at <= now()`))
  }
}
