import { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { KeyId, RequestId } from "../domain/Ids.ts"
import { unavailable } from "../sql/Unavailable.ts"

/** A request as its sender has named it; names are the API key's own. */
export interface Named {
  readonly keyId: KeyId
  readonly idempotencyKey: string
}

export interface Claim extends Named {
  readonly runId: RequestId
  readonly requestHash: Uint8Array
  /** After this long a run that has not ended is given up for dead. */
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
  /** `undefined`: the name is the claimer's now. Otherwise what stands under it. */
  readonly claim: (claim: Claim) => Effect.Effect<Found | undefined, StoreUnavailable>
  readonly finish: (
    run: Named & { readonly runId: RequestId },
    answer: { readonly contentType: string; readonly sealed: Uint8Array; readonly keptMillis: number }
  ) => Effect.Effect<void, StoreUnavailable>
  /** The name is free again. */
  readonly release: (run: Named & { readonly runId: RequestId }) => Effect.Effect<void, StoreUnavailable>
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
  const find = (named: Named) =>
    Effect.flatMap(
      sql`select request_hash, state, content_type, answer from idempotent_request
        where key_id = ${named.keyId} and idempotency_key = ${named.idempotencyKey}`,
      decodeFound
    )
  const claim = (wanted: Claim): Effect.Effect<Found | undefined, StoreUnavailable> =>
    unavailable(Effect.zip(insert(wanted), find(wanted))).pipe(
      Effect.flatMap(([claimed, [found]]) => {
        if (claimed.length > 0) return Effect.succeed(undefined)
        // it was released between the two statements: then it can be claimed
        return found === undefined ? claim(wanted) : Effect.succeed(found)
      })
    )
  return {
    claim,
    finish: ({ idempotencyKey, keyId, runId }, { contentType, keptMillis, sealed }) =>
      unavailable(
        sql`update idempotent_request set state = 'finished', content_type = ${contentType}, answer = ${sealed},
          expires_at = now() + ${millis(keptMillis)}::interval
          where key_id = ${keyId} and idempotency_key = ${idempotencyKey} and run_id = ${runId}`
      ).pipe(Effect.asVoid),
    release: ({ idempotencyKey, keyId, runId }) =>
      unavailable(
        sql`delete from idempotent_request
          where key_id = ${keyId} and idempotency_key = ${idempotencyKey} and run_id = ${runId}`
      ).pipe(Effect.asVoid),
    sweep: Effect.asVoid(unavailable(sql`delete from idempotent_request where expires_at <= now()`))
  }
}
