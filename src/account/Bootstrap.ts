import { randomFillSync } from "node:crypto"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { AccountId, Ids, KeyId, ProjectId, UserId } from "../domain/Ids.ts"
import { AccountStore } from "../identity/AccountStore.ts"
import { mint, wellFormed } from "../identity/ApiKey.ts"
import { ApiKeyStore } from "../identity/ApiKeyStore.ts"
import { ProjectStore } from "../identity/ProjectStore.ts"
import { Scopes } from "../ledger/Scopes.ts"

/** What `GATEWAY_BOOTSTRAP_*` say. */
export interface BootstrapOptions {
  /** `null`: to be made up. */
  readonly key: Redacted.Redacted | null
  readonly creditMicroUsd: number
  /** The variables that were set. */
  readonly given: ReadonlyArray<string>
}

export type Bootstrapped =
  | {
      readonly created: true
      /** To be shown once; `null` when the operator has chosen it and knows it. */
      readonly key: Redacted.Redacted | null
    }
  | {
      readonly created: false
      /** Variables were set, and had no effect because the database is not empty. */
      readonly ignored: boolean
    }

/**
 * On an empty database: a user, its account with a balance, project "default" and one API key, all or nothing. Of several
 * nodes that start at once exactly one does it.
 */
export const bootstrap: (
  options: BootstrapOptions
) => Effect.Effect<
  Bootstrapped,
  ConfigError.ConfigError | StoreUnavailable,
  AccountStore | ApiKeyStore | Ids | ProjectStore | Scopes
> = Effect.fn("Bootstrap.bootstrap")(function* (options) {
  yield* checkBootstrapKey(options.key)
  const accounts = yield* AccountStore
  const ignored = options.given.length > 0
  return yield* accounts.atStart(
    Effect.flatMap(accounts.isEmpty, (empty) =>
      empty ? createFirst(options) : Effect.succeed<Bootstrapped>({ created: false, ignored })
    )
  )
})

const checkBootstrapKey = (key: Redacted.Redacted | null): Effect.Effect<void, ConfigError.ConfigError> =>
  key === null || wellFormed(Redacted.value(key))
    ? Effect.void
    : Effect.fail(
        ConfigError.InvalidData(
          ["GATEWAY_BOOTSTRAP_KEY"],
          "not an API key: mrg_sk_, 32 characters 0-9A-Za-z, and 6 characters of checksum (CRC-32 of all before, in base62)"
        )
      )

const createFirst = Effect.fnUntraced(function* (options: BootstrapOptions) {
  const { uuid } = yield* Ids
  const accounts = yield* AccountStore
  const projects = yield* ProjectStore
  const keys = yield* ApiKeyStore
  const scopes = yield* Scopes

  const accountId = AccountId.make(uuid())
  const projectId = ProjectId.make(uuid())
  const keyId = KeyId.make(uuid())
  const key = options.key ?? Redacted.make(mint(randomFillSync))

  yield* accounts.create({ userId: UserId.make(uuid()), accountId, name: "owner" })
  yield* scopes.open("account", accountId, null)
  if (options.creditMicroUsd > 0) yield* scopes.credit(accountId, options.creditMicroUsd, "bootstrap")
  yield* projects.create({ id: projectId, accountId, name: "default", isDefault: true })
  yield* scopes.open("project", projectId, null)
  yield* keys.create(Redacted.value(key), { id: keyId, projectId, name: "default", expiresAt: null })
  yield* scopes.open("key", keyId, null)
  const created: Bootstrapped = { created: true, key: options.key === null ? key : null }
  return created
})
