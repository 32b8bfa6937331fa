import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { type SessionId, UserId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { deleteWhere } from "../../sql/Portions.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface NewSignInCode {
  /** SHA-256 of the code, in hex. */
  readonly hash: string
  readonly userId: UserId
  /** Of the signed-in person who asked for it; `null` where the start, a command or a proof did. */
  readonly sessionId: SessionId | null
  /** Of the proof that asked for it, in hex; `null` where a signed-in person or the start did. */
  readonly proofHash: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
}

export interface SignInCodeStoreShape {
  /** False when a code was made for the same proof before. */
  readonly create: (code: NewSignInCode) => Effect.Effect<boolean, StoreUnavailable>
  /** The person who signs in by it; each code once, on whatever node, and none of a session that has ended. */
  readonly use: (hash: string, now: Date) => Effect.Effect<UserId | undefined, StoreUnavailable>
  /** Removes codes that expired before. */
  readonly sweep: (before: Date) => Effect.Effect<void, StoreUnavailable>
}

export class SignInCodeStore extends Context.Tag("gateway/identity/SignInCodeStore")<
  SignInCodeStore,
  SignInCodeStoreShape
>() {
  static readonly layer: Layer.Layer<SignInCodeStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const use = SqlSchema.findOne({
    Request: Schema.Struct({ hash: Schema.String, now: Schema.DateFromSelf }),
    Result: Schema.Struct({ userId: UserId }),
    execute: ({ hash, now }) => sql`
      update sign_in_code c set used_at = ${now}
      where c.hash = decode(${hash}, 'hex') and c.used_at is null and c.expires_at > ${now}
        and (c.session_id is null or exists (
          select from session s where s.id = c.session_id and s.revoked_at is null and s.expires_at > ${now}))
      returning c.user_id as "userId"`
  })
  const create = ({ createdAt, expiresAt, hash, proofHash, sessionId, userId }: NewSignInCode) => sql`
    insert into sign_in_code (hash, user_id, session_id, proof_hash, created_at, expires_at)
    values (decode(${hash}, 'hex'), ${userId}, ${sessionId}, decode(${proofHash}, 'hex'), ${createdAt}, ${expiresAt})
    on conflict (proof_hash) do nothing returning user_id`

  return SignInCodeStore.of({
    create: flow(
      create,
      Effect.map((rows) => rows.length === 1),
      fromSql
    ),
    use: (hash, now) => fromSql(Effect.map(use({ hash, now }), (found) => Option.getOrUndefined(found)?.userId)),
    sweep: (before) => fromSql(Effect.asVoid(deleteWhere(sql, "sign_in_code", sql`expires_at < ${before}`)))
  })
})
