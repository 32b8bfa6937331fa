import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type JWTPayload, errors as joseErrors } from "jose"
import * as client from "openid-client"
import { IssuerUnavailable } from "../../domain/AccountError.ts"
import { Unauthenticated } from "../../domain/GatewayError.ts"
import { paced } from "../../domain/PacedLog.ts"
import { Timers } from "../../domain/Timers.ts"
import * as Documents from "./IssuerDocuments.ts"
import { type IssuerPerson, personOf, verified } from "./IssuerToken.ts"
import type { OidcOptions } from "./OidcOptions.ts"
import type { SignInFlow } from "./SignInFlow.ts"

export interface IssuerShape {
  /** Where a browser signs in. */
  readonly authorizationUrl: (flow: SignInFlow, redirectUri: string) => Effect.Effect<string, IssuerUnavailable>
  /** The person whom the issuer sent back with this query, by exchanging its code. */
  readonly redeem: (
    flow: SignInFlow,
    redirectUri: string,
    query: string
  ) => Effect.Effect<IssuerPerson, Unauthenticated | IssuerUnavailable>
  /** The person of a token that was sent as bearer. */
  readonly verify: (token: string) => Effect.Effect<IssuerPerson, Unauthenticated | IssuerUnavailable>
}

/** The OpenID provider of the people who use the account API. */
export class Issuer extends Context.Tag("gateway/identity/Issuer")<Issuer, IssuerShape>() {
  static readonly layer = (options: OidcOptions): Layer.Layer<Issuer, never, HttpClient.HttpClient | Timers> =>
    Layer.scoped(this, make(options))
}

const make = Effect.fnUntraced(function* (options: OidcOptions) {
  const documents = yield* Documents.make(options)
  const timers = yield* Timers

  const claimsBy = (token: string, audience: string, { keys }: Documents.IssuerDocuments) =>
    Effect.tryPromise({
      try: () => verified(token, keys, { issuer: options.issuer, audience, nowMillis: timers.now() }),
      catch: (cause) => new TokenRefused({ cause })
    })

  /** A key that is not known may be new: the keys are then fetched again, if that was not just done. */
  const claimsOf = (token: string, audience: string): Effect.Effect<JWTPayload, TokenRefused | IssuerUnavailable> =>
    Effect.flatMap(documents.current, (current) =>
      Effect.catchIf(
        claimsBy(token, audience, current),
        ({ cause }) => cause instanceof joseErrors.JWKSNoMatchingKey,
        () => Effect.flatMap(documents.newerThan(current), (newer) => claimsBy(token, audience, newer))
      )
    )
  const person = (token: string, audience: string) =>
    Effect.flatMap(claimsOf(token, audience), (claims) => {
      const found = personOf(claims, options)
      return found === undefined
        ? Effect.fail(new TokenRefused({ cause: new Error("its subject cannot be stored") }))
        : Effect.succeed(found)
    })

  const pace = paced(timers, tellMillis)
  /** What the settings, a clock or the issuer is the reason of, as nobody else would say it; a stranger can cause it at will. */
  const tell = (why: string) =>
    pace(Effect.logWarning(`the identity provider ${options.issuer} has signed nobody in: ${why}`))

  return Issuer.of({
    authorizationUrl: (flow, redirectUri) =>
      Effect.map(
        documents.current,
        ({ configuration }) =>
          client.buildAuthorizationUrl(configuration, {
            response_type: "code",
            redirect_uri: redirectUri,
            scope,
            state: flow.state,
            nonce: flow.nonce,
            code_challenge: flow.codeChallenge,
            code_challenge_method: "S256"
          }).href
      ),
    redeem: (flow, redirectUri, query) =>
      Effect.gen(function* () {
        const { configuration } = yield* documents.current
        const tokens = yield* Effect.tryPromise({
          try: () =>
            client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
              expectedState: flow.state,
              expectedNonce: flow.nonce,
              pkceCodeVerifier: flow.codeVerifier,
              idTokenExpected: true
            }),
          catch: exchangeFault
        }).pipe(
          Effect.tapError(({ why }) => (why === null ? Effect.void : tell(why))),
          Effect.mapError(({ failure }) => failure)
        )
        // came over the connection to the issuer; its signature is checked like that of any other token
        return yield* person(tokens.id_token ?? "", options.clientId).pipe(
          Effect.catchTag("TokenRefused", ({ cause }) =>
            Effect.zipRight(tell(`its token is refused (${messageOf(cause)})`), Effect.fail(new Unauthenticated()))
          )
        )
      }),
    verify: (token) =>
      Effect.catchTag(person(token, options.audience), "TokenRefused", () => Effect.fail(new Unauthenticated()))
  })
})

/** The log has a line about sign-ins that fail this often at most. */
const tellMillis = 5_000

class TokenRefused extends Data.TaggedError("TokenRefused")<{ readonly cause: unknown }> {}

const scope = "openid profile email"

const unreachable = new IssuerUnavailable({ message: "The identity provider cannot be reached." })
const unusable = new IssuerUnavailable({
  message: "The identity provider did not identify the user; the log of the service has the reason."
})

const unavailable = new IssuerUnavailable({
  message: "The identity provider cannot sign in users at the moment; try again later."
})

/** What the issuer says of itself or of the gateway (RFC 6749, 4.1.2.1); it says other things of the person. */
const refusedStarts: ReadonlyMap<string, IssuerUnavailable> = new Map([
  ["temporarily_unavailable", unavailable],
  ["server_error", unavailable],
  ["invalid_request", unusable],
  ["invalid_scope", unusable],
  ["unauthorized_client", unusable],
  ["unsupported_response_type", unusable]
])

/** An exchange that has given no token; `why` is for the log, where neither the person nor who wrote the query is the reason. */
interface ExchangeFault {
  readonly failure: Unauthenticated | IssuerUnavailable
  readonly why: string | null
}

const exchangeFault = (cause: unknown): ExchangeFault => {
  if (cause instanceof client.AuthorizationResponseError) {
    const failure = refusedStarts.get(cause.error)
    return failure === undefined
      ? { failure: new Unauthenticated(), why: null }
      : { failure, why: `it sent a browser back without a code (${cause.error})` }
  }
  if (cause instanceof client.ResponseBodyError) {
    return cause.error === "invalid_grant"
      ? { failure: new Unauthenticated(), why: null }
      : { failure: unusable, why: `it refuses to exchange a code (${cause.status}, ${cause.error})` }
  }
  if (cause instanceof client.WWWAuthenticateChallengeError) {
    return { failure: unusable, why: `it refuses the credential of the client (${cause.status})` }
  }
  const code = cause instanceof client.ClientError ? cause.code : undefined
  // the library's own message of a request that fails says nothing
  const told = code === undefined && cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  const why = `it did not exchange a code (${messageOf(told)})`
  if (code === undefined || code === "OAUTH_TIMEOUT") return { failure: unreachable, why }
  return { failure: faultsOfIssuer.has(code) ? unusable : new Unauthenticated(), why }
}

/** The response is no OAuth response at all; with other codes the query or the token is not what was asked for. */
const faultsOfIssuer: ReadonlySet<string> = new Set([
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR"
])

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 200)
