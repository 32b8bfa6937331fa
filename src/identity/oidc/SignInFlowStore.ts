import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface SignInFlowStoreShape {
  /**
   * Each ends once, on whatever node; false when it ended before. Kept until `keptUntil`, after which it must not be ended again;
   * removes those whose time is over.
   */
  readonly end: (hash: string, keptUntil: Date, now: Date) => Effect.Effect<boolean, StoreUnavailable>
}

/** Sign-ins at the identity provider that have ended, by the hash of the browser's secret, in hex. */
export class SignInFlowStore extends Context.Tag("gateway/identity/SignInFlowStore")<
  SignInFlowStore,
  SignInFlowStoreShape
>() {
  static readonly layer: Layer.Layer<SignInFlowStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) =>
      SignInFlowStore.of({
        end: (hash, keptUntil, now) =>
          fromSql(
            Effect.map(
              sql`
                with swept as (delete from sign_in_flow where expires_at < ${now})
                insert into sign_in_flow (hash, expires_at) values (decode(${hash}, 'hex'), ${keptUntil})
                on conflict (hash) do nothing returning hash`,
              (rows) => rows.length === 1
            )
          )
      })
    )
  )
}
