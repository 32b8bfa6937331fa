import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../../domain/Caller.ts"
import { Unauthenticated } from "../../domain/GatewayError.ts"
import { ApiKeys } from "../../identity/keys/ApiKeys.ts"

/** Authenticates exactly these keys, of any format: a map from key to caller. */
export const layer = (keys: Readonly<Record<string, CallerShape>>): Layer.Layer<ApiKeys> => {
  const callers = new Map(Object.entries(keys).map(([key, caller]) => [`bearer ${key}`, caller]))
  const cached = (authorization: string | undefined) =>
    callers.get((authorization ?? "").replace(/^bearer /i, "bearer "))
  return Layer.succeed(ApiKeys, {
    authenticate: (authorization) => {
      const caller = cached(authorization)
      return caller === undefined ? Effect.fail(new Unauthenticated()) : Effect.succeed(caller)
    },
    cached,
    blocked: () => undefined
  })
}
