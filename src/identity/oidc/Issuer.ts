import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type JWTPayload, errors as joseErrors } from "jose"
import * as client from "openid-client"
import { IssuerUnavailable } from "../../domain/AccountError.ts"
import { Unauthenticated } from "../../domain/GatewayError.ts"
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
    Layer.effect(this, make(options))
}

const make = Effect.fnUntraced(function* (options: OidcOptions) {
  const documents = yield* Documents.make(options)
  const timers = yield* Timers

  const claimsBy = (token: string, audience: string, { keys }: Documents.IssuerDocuments) =>
    Effect.tryPromise({
      try: () => verified(token, keys, { issuer: options.issuer, audience, nowMillis: timers.now() }),
      catch: (cause) =>
        cause instanceof joseErrors.JWKSNoMatchingKey ? ("unknown key" as const) : new Unauthenticated()
    })

  /** A key that is not known may be new: the keys are then fetched once more, if that was not just done. */
  const claimsOf = (token: string, audience: string): Effect.Effect<JWTPayload, Unauthenticated | IssuerUnavailable> =>
    Effect.flatMap(documents.current, (current) =>
      claimsBy(token, audience, current).pipe(
        Effect.catchIf(
          (error) => error === "unknown key",
          () => Effect.flatMap(documents.newerThan(current), (newer) => claimsBy(token, audience, newer))
        ),
        Effect.mapError((error) => (error === "unknown key" ? new Unauthenticated() : error))
      )
    )
  const person = (token: string, audience: string) =>
    Effect.flatMap(claimsOf(token, audience), (claims) => {
      const found = personOf(claims, options)
      return found === undefined ? Effect.fail(new Unauthenticated()) : Effect.succeed(found)
    })

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
          catch: (cause) => (isRefusal(cause) ? new Unauthenticated() : unreachable)
        })
        // came over the connection to the issuer; its signature is checked like that of any other token
        return yield* person(tokens.id_token ?? "", options.clientId)
      }),
    verify: (token) => person(token, options.audience)
  })
})

const scope = "openid profile email"

const unreachable = new IssuerUnavailable({ message: "The identity provider cannot be reached." })

/** The query, the issuer's response or its token are not what was asked for; anything else is a failed request. */
const isRefusal = (cause: unknown): boolean =>
  cause instanceof client.AuthorizationResponseError ||
  cause instanceof client.ResponseBodyError ||
  cause instanceof client.WWWAuthenticateChallengeError ||
  (cause instanceof client.ClientError && cause.code !== "OAUTH_TIMEOUT" && cause.code !== undefined)
