import type { IncomingMessage } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../../domain/Caller.ts"
import { ApiKeys, type AuthenticationFailure } from "../../identity/keys/ApiKeys.ts"

type Incoming = Pick<IncomingMessage, "headers" | "socket">

export interface SecurityShape {
  /** Authenticates the caller by the bearer of the Authorization header, the only accepted credential. */
  readonly authenticate: (request: Incoming) => Effect.Effect<CallerShape, AuthenticationFailure>
  /** The caller from the cache; `undefined` does not mean that the credential is invalid. */
  readonly remembered: (request: Incoming) => CallerShape | undefined
}

export class Security extends Context.Tag("gateway/http/Security")<Security, SecurityShape>() {
  static readonly layer: Layer.Layer<Security, never, ApiKeys> = Layer.effect(
    this,
    Effect.map(ApiKeys, (keys) => ({
      authenticate: ({ headers, socket }: Incoming) =>
        keys.authenticate(headers.authorization, socket.remoteAddress ?? ""),
      remembered: ({ headers }: Incoming) => keys.cached(headers.authorization)
    }))
  )
}
