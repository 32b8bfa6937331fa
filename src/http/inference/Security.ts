import type { IncomingMessage } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../../domain/Caller.ts"
import type { RateLimited } from "../../domain/GatewayError.ts"
import { ApiKeys, type AuthenticationFailure } from "../../identity/keys/ApiKeys.ts"
import { ClientAddress } from "../ClientAddress.ts"
import { openAiFormat, type WireFormat } from "../WireFormat.ts"

type Incoming = Pick<IncomingMessage, "headers" | "socket">

export interface SecurityShape {
  /** Authenticates the caller by the bearer of the Authorization header, or by what else the format of the path accepts. */
  readonly authenticate: (request: Incoming, format?: KeyPlaces) => Effect.Effect<CallerShape, AuthenticationFailure>
  /** The caller from the cache; `undefined` does not mean that the credential is invalid. */
  readonly remembered: (request: Incoming, format?: KeyPlaces) => CallerShape | undefined
  /** Why the request fails whatever is in the database, if it does. */
  readonly blocked: (request: Incoming, format?: KeyPlaces) => RateLimited | undefined
}

type KeyPlaces = Pick<WireFormat, "takesApiKeyHeader">

/** The credential in the form of an Authorization header, which comes first where both are sent. */
const authorizationOf = ({ headers }: Pick<IncomingMessage, "headers">, format: KeyPlaces): string | undefined => {
  const apiKey = format.takesApiKeyHeader ? headers["x-api-key"] : undefined
  return headers.authorization ?? (typeof apiKey === "string" ? `Bearer ${apiKey}` : undefined)
}

export class Security extends Context.Tag("gateway/http/Security")<Security, SecurityShape>() {
  static readonly layer: Layer.Layer<Security, never, ApiKeys | ClientAddress> = Layer.effect(
    this,
    Effect.map(Effect.all([ApiKeys, ClientAddress]), ([keys, address]) => ({
      authenticate: (request: Incoming, format: KeyPlaces = openAiFormat) =>
        keys.authenticate(authorizationOf(request, format), address.of(request)),
      remembered: (request: Incoming, format: KeyPlaces = openAiFormat) =>
        keys.cached(authorizationOf(request, format)),
      blocked: (request: Incoming, format: KeyPlaces = openAiFormat) =>
        keys.blocked(authorizationOf(request, format), address.of(request))
    }))
  )
}
