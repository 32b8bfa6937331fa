import { randomFillSync } from "node:crypto"
import * as Effect from "effect/Effect"
import { KeyId } from "../../domain/Ids.ts"
import { inDollars } from "../../domain/Money.ts"
import { mint } from "../../identity/keys/ApiKey.ts"
import type { ApiKeyOut } from "../../wire/account/Keys.ts"
import { microUsdOf, textOf } from "./Arguments.ts"
import type { Command } from "./Command.ts"
import { Operations } from "./Operations.ts"
import { jsonOption, print, table } from "./Output.ts"
import { idOf, projectOf, projectOption } from "./Targets.ts"
import { withOperations } from "./WithOperations.ts"

export const keysCreate: Command = {
  name: "keys create",
  about: "make a key, which is printed once",
  positionals: [],
  options: {
    ...projectOption,
    name: { about: "its name", value: "NAME" },
    "limit-usd": { about: "what it may spend", value: "DOLLARS" },
    ...jsonOption
  },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const limit = given.values.get("limit-usd")
      const limitMicroUsd = limit === undefined ? null : yield* microUsdOf("limit-usd", limit)
      const name = yield* textOf("name", given.values.get("name") ?? "command line")
      const operations = yield* Operations
      const project = yield* projectOf(given)
      const created = yield* operations.createKey(project, { name, limitMicroUsd })
      yield* print(given, created, `${created.api_key}\nkey ${created.id}, shown once: keep it`)
    }).pipe(withOperations(settings))
}

export const keysList: Command = {
  name: "keys list",
  about: "the keys of a project",
  positionals: [],
  options: { ...projectOption, ...jsonOption },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const operations = yield* Operations
      const keys = yield* operations.keys(yield* projectOf(given))
      const rows = keys.map((key) => [
        key.id,
        key.key_prefix,
        key.name,
        stateOf(key),
        inDollars(key.total_spent_microusd),
        key.spend_limit_microusd === null ? "none" : inDollars(key.spend_limit_microusd)
      ])
      yield* print(given, keys, table(["id", "prefix", "name", "state", "spent", "limit"], rows))
    }).pipe(withOperations(settings))
}

const stateOf = ({ is_active, revoked_at }: ApiKeyOut): string =>
  revoked_at !== null ? "revoked" : is_active ? "active" : "inactive"

export const keysRevoke: Command = {
  name: "keys revoke",
  about: "revoke a key",
  positionals: ["KEY_ID"],
  options: { ...jsonOption },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const id = yield* idOf(KeyId, "KEY_ID", given.positionals[0] ?? "")
      const operations = yield* Operations
      const revoked = yield* operations.revokeKey(id)
      yield* print(given, revoked, `key ${revoked.id} (${revoked.name}) is revoked`)
    }).pipe(withOperations(settings))
}

export const keysMint: Command = {
  name: "keys mint",
  about: "print a well-formed key for GATEWAY_BOOTSTRAP_KEY; nothing is stored",
  positionals: [],
  options: { ...jsonOption },
  run: ({ given }) =>
    Effect.suspend(() => {
      const api_key = mint(randomFillSync)
      return print(given, { api_key }, api_key)
    })
}
