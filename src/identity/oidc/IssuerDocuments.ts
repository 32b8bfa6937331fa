import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose"
import * as client from "openid-client"
import { IssuerUnavailable } from "../../domain/AccountError.ts"
import { whyOf } from "../../domain/RootCause.ts"
import { Timers } from "../../domain/Timers.ts"
import { fetchOf } from "../../egress/ClientFetch.ts"
import { leewaySeconds, type OidcOptions } from "./OidcOptions.ts"

/** What an identity provider may take for one response. */
const issuerTimeoutMillis = 5_000

/** What the issuer publishes of itself. */
export interface IssuerDocuments {
  /** From discovery: its endpoints, and how the gateway authenticates there. */
  readonly configuration: client.Configuration
  /** Its present keys. */
  readonly keys: JWTVerifyGetKey
  readonly fetchedMillis: number
}

export interface IssuerDocumentsShape {
  /** Fetched again after ten minutes, for which nobody waits while the known ones count. */
  readonly current: Effect.Effect<IssuerDocuments, IssuerUnavailable>
  /** Fetched again, since a key is missing in the given ones; the same where they are too new for that. */
  readonly newerThan: (documents: IssuerDocuments) => Effect.Effect<IssuerDocuments, IssuerUnavailable>
}

const maxAgeMillis = 600_000
/** While the issuer cannot be reached its last documents count, but not forever: a key may have been withdrawn. */
const maxStaleMillis = 24 * 3_600_000
/** From the end of a fetch to the next one, whatever tokens come. */
const minIntervalMillis = 5_000

export const make = (
  options: OidcOptions
): Effect.Effect<IssuerDocumentsShape, never, HttpClient.HttpClient | Scope.Scope | Timers> =>
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const timers = yield* Timers
    const scope = yield* Effect.scope
    let known: IssuerDocuments | undefined
    let running: Deferred.Deferred<IssuerDocuments, IssuerUnavailable> | undefined
    let endedMillis = Number.NEGATIVE_INFINITY

    const isYounger = (documents: IssuerDocuments, millis: number): boolean =>
      timers.now() - documents.fetchedMillis < millis
    const fallback = Effect.suspend(() =>
      known !== undefined && isYounger(known, maxStaleMillis) ? Effect.succeed(known) : Effect.fail(unavailable)
    )
    const fetched = Effect.gen(function* () {
      const configuration = yield* discovered(options, http)
      const keys = yield* keysOf(configuration, http)
      known = { configuration, keys, fetchedMillis: timers.now() }
      return known
    }).pipe(
      Effect.catchAll((reason) =>
        Effect.zipRight(
          Effect.logWarning(`the identity provider ${options.issuer} cannot be used: ${reason}`),
          fallback
        )
      )
    )
    /** In the scope of the service: a client that leaves must not cost the next ones their turn. */
    const start = (outcome: Deferred.Deferred<IssuerDocuments, IssuerUnavailable>) => {
      running = outcome
      return fetched.pipe(
        Effect.interruptible,
        Effect.onExit((exit) =>
          Effect.sync(() => {
            running = undefined
            // counted from here: an issuer that is silent must not be asked again as soon as a fetch has waited in vain
            endedMillis = timers.now()
            Deferred.unsafeDone(outcome, Exit.isInterrupted(exit) ? Exit.fail(unavailable) : exit)
          })
        ),
        Effect.forkIn(scope),
        Effect.uninterruptible
      )
    }
    const isDue = (): boolean => running === undefined && timers.now() - endedMillis >= minIntervalMillis
    const refreshed = Effect.suspend(() => {
      if (running !== undefined) return Deferred.await(running)
      if (!isDue()) return fallback
      const outcome = Deferred.unsafeMake<IssuerDocuments, IssuerUnavailable>(FiberId.none)
      return Effect.zipRight(start(outcome), Deferred.await(outcome))
    })

    return {
      current: Effect.suspend(() => {
        if (known === undefined || !isYounger(known, maxStaleMillis)) return refreshed
        if (isYounger(known, maxAgeMillis) || !isDue()) return Effect.succeed(known)
        return Effect.as(start(Deferred.unsafeMake(FiberId.none)), known)
      }),
      newerThan: (documents) =>
        Effect.suspend(() => (known !== undefined && known !== documents ? Effect.succeed(known) : refreshed))
    }
  })

const unavailable = new IssuerUnavailable({ message: "The identity provider cannot be reached." })

/** Fails with a reason for the log. */
const discovered = (options: OidcOptions, http: HttpClient.HttpClient): Effect.Effect<client.Configuration, string> =>
  Effect.tryPromise({
    try: async () => {
      const isInsecure = options.issuer.startsWith("http:")
      const found = await client.discovery(new URL(options.issuer), options.clientId, undefined, client.None(), {
        [client.customFetch]: fetchOf(http),
        timeout: issuerTimeoutMillis / 1_000,
        execute: isInsecure ? [client.allowInsecureRequests] : []
      })
      const configuration = new client.Configuration(
        found.serverMetadata(),
        options.clientId,
        { [client.clockTolerance]: leewaySeconds },
        authenticationOf(options, found)
      )
      configuration[client.customFetch] = fetchOf(http)
      configuration.timeout = issuerTimeoutMillis / 1_000
      if (isInsecure) client.allowInsecureRequests(configuration)
      return configuration
    },
    catch: (cause) => `its discovery document is unusable (${reasonOf(cause)})`
  })

/** Without a secret the client is a public one, and PKCE is what protects the code. */
const authenticationOf = ({ clientSecret }: OidcOptions, found: client.Configuration): client.ClientAuth => {
  if (clientSecret === null) return client.None()
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
  const secret = Redacted.value(clientSecret)
  return methods.includes("client_secret_basic") ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret)
}

const keysOf = (
  configuration: client.Configuration,
  http: HttpClient.HttpClient
): Effect.Effect<JWTVerifyGetKey, string> => {
  const url = configuration.serverMetadata().jwks_uri
  if (url === undefined) return Effect.fail("it publishes no keys")
  return http.get(url).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap((response) => response.json),
    Effect.timeout(Duration.millis(issuerTimeoutMillis)),
    // which checks that they are keys
    Effect.flatMap((json) => Effect.try(() => createLocalJWKSet(json as JSONWebKeySet))),
    Effect.mapError((cause) => `its keys cannot be read (${reasonOf(cause)})`)
  )
}

/** The clients' own messages of a request that fails say nothing; what the issuer has answered is in the message itself. */
const reasonOf = (cause: unknown): string =>
  (cause instanceof client.ClientError && cause.code !== undefined ? cause.message : whyOf(cause)).slice(0, 200)
