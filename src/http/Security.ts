import type { IncomingMessage } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../domain/Caller.ts"
import { ApiKeys, type AuthenticationFailure } from "../identity/ApiKeys.ts"

type Incoming = Pick<IncomingMessage, "headers" | "socket">

export interface SecurityShape {
  /** Who is calling, by the one credential that counts: the bearer of the Authorization header. */
  readonly authenticate: (request: Incoming) => Effect.Effect<CallerShape, AuthenticationFailure>
  /** The same from memory alone; `undefined` says nothing about the credential. */
  readonly remembered: (request: Incoming) => CallerShape | undefined
}

export class Security extends Context.Tag("gateway/http/Security")<Security, SecurityShape>() {
  static readonly layer: Layer.Layer<Security, never, ApiKeys> = Layer.effect(
    this,
    Effect.map(ApiKeys, (keys) => ({
      authenticate: ({ headers, socket }: Incoming) =>
        keys.authenticate(headers.authorization, socket.remoteAddress ?? ""),
      remembered: ({ headers }: Incoming) => keys.remembered(headers.authorization)
    }))
  )
}
