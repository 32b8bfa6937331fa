import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface SignInFlowStoreShape {
  /** Removes those that expired before, too. */
  readonly begin: (hash: string, expiresAt: Date, now: Date) => Effect.Effect<void, StoreUnavailable>
  /** Each ends once, on whatever node; false when it expired, ended before or never began. */
  readonly end: (hash: string, now: Date) => Effect.Effect<boolean, StoreUnavailable>
}

/** Sign-ins at the identity provider that have begun, by the hash of the browser's secret, in hex. */
export class SignInFlowStore extends Context.Tag("gateway/identity/SignInFlowStore")<
  SignInFlowStore,
  SignInFlowStoreShape
>() {
  static readonly layer: Layer.Layer<SignInFlowStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) =>
      SignInFlowStore.of({
        begin: (hash, expiresAt, now) =>
          fromSql(
            Effect.asVoid(sql`
              with swept as (delete from sign_in_flow where expires_at < ${now})
              insert into sign_in_flow (hash, expires_at) values (decode(${hash}, 'hex'), ${expiresAt})`)
          ),
        end: (hash, now) =>
          fromSql(
            Effect.map(
              sql`
                delete from sign_in_flow where hash = decode(${hash}, 'hex') and expires_at > ${now} returning hash`,
              (rows) => rows.length === 1
            )
          )
      })
    )
  )
}
