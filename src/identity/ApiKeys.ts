import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../domain/Caller.ts"
import { type StoreUnavailable, Unauthenticated } from "../domain/GatewayError.ts"
import { Timers } from "../domain/Timers.ts"
import { Changes } from "../sql/Changes.ts"
import * as RowCache from "../sql/RowCache.ts"
import { hashOf, wellFormed } from "./ApiKey.ts"
import { type ActiveKey, ApiKeyStore } from "./ApiKeyStore.ts"

export interface ApiKeysShape {
  /** `authorization` is the header as it came; only `Bearer <key>` counts. */
  readonly authenticate: (
    authorization: string | undefined
  ) => Effect.Effect<CallerShape, Unauthenticated | StoreUnavailable>
}

/** Project API keys: who is calling. */
export class ApiKeys extends Context.Tag("gateway/identity/ApiKeys")<ApiKeys, ApiKeysShape>() {
  static readonly layer: Layer.Layer<ApiKeys, never, ApiKeyStore | Changes | Timers> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* ApiKeyStore
  // Known by the hash of the whole key: neither a part of a key nor a key in memory will do.
  const cache = yield* RowCache.make<ActiveKey, undefined>({
    timers: yield* Timers,
    changes: yield* Changes,
    load: store.findActive,
    absent: undefined,
    kinds: ["key", "project"],
    concerns: ({ id, kind }, { caller }) => id === (kind === "key" ? caller.keyId : caller.projectId),
    validMillis: (key) => key.validMillis
  })
  const refused = Effect.fail(new Unauthenticated())

  return ApiKeys.of({
    authenticate: (authorization) =>
      Effect.suspend(() => {
        const key = bearerOf(authorization)
        if (key === undefined || !wellFormed(key)) return refused
        return Effect.flatMap(cache.get(hashOf(key)), (found) =>
          found === undefined ? refused : Effect.succeed(found.caller)
        )
      })
  })
})

const bearer = /^bearer ([^ ]+)$/i

const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
