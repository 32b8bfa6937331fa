import { randomFillSync } from "node:crypto"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId, UserId } from "../domain/Ids.ts"
import { mint, wellFormed } from "../identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../identity/keys/ApiKeyStore.ts"
import { AccountStore } from "../identity/projects/AccountStore.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { Scopes } from "../ledger/Scopes.ts"

/** The values of `GATEWAY_BOOTSTRAP_*`. */
export interface BootstrapOptions {
  /** `null`: generate a key. */
  readonly key: Redacted.Redacted | null
  readonly creditMicroUsd: number
  /** The variables that were set. */
  readonly given: ReadonlyArray<string>
}

export type Bootstrapped =
  | {
      readonly created: true
      /** Shown once; `null` when the key was configured by the operator. */
      readonly key: Redacted.Redacted | null
    }
  | {
      readonly created: false
      /** Variables were set, and had no effect because the database is not empty. */
      readonly ignored: boolean
    }

/**
 * On an empty database: a user, its account with a balance, project "default" and one API key, all or nothing. If several
 * nodes start at once, exactly one of them does this.
 */
export const bootstrap: (
  options: BootstrapOptions
) => Effect.Effect<
  Bootstrapped,
  ConfigError.ConfigError | StoreUnavailable,
  AccountStore | ApiKeyStore | IdGenerator | ProjectStore | Scopes
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
  const { uuid } = yield* IdGenerator
  const accounts = yield* AccountStore
  const projects = yield* ProjectStore
  const keys = yield* ApiKeyStore
  const scopes = yield* Scopes

  const accountId = AccountId.make(uuid())
  const projectId = ProjectId.make(uuid())
  const keyId = KeyId.make(uuid())
  const key = options.key ?? Redacted.make(mint(randomFillSync))

  yield* accounts.create({ userId: UserId.make(uuid()), accountId, name: "owner", isOperator: true })
  yield* scopes.open("account", accountId, null)
  if (options.creditMicroUsd > 0) yield* scopes.credit(accountId, options.creditMicroUsd, "bootstrap")
  yield* projects.create({ id: projectId, accountId, name: "default", isDefault: true })
  yield* scopes.open("project", projectId, null)
  yield* keys.create(Redacted.value(key), { id: keyId, projectId, name: "default", expiresAt: null })
  yield* scopes.open("key", keyId, null)
  const created: Bootstrapped = { created: true, key: options.key === null ? key : null }
  return created
})
