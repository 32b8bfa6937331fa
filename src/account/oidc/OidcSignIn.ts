import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type IssuerUnavailable, NotFound } from "../../domain/AccountError.ts"
import { dateAt } from "../../domain/Dates.ts"
import { type RateLimited, type StoreUnavailable, Unauthenticated } from "../../domain/GatewayError.ts"
import type { AccountId, RequestId, UserId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { Issuer } from "../../identity/oidc/Issuer.ts"
import { leewaySeconds } from "../../identity/oidc/OidcOptions.ts"
import { begunMillisOf, flowOf, mintSecret } from "../../identity/oidc/SignInFlow.ts"
import { SignInFlowStore } from "../../identity/oidc/SignInFlowStore.ts"
import { type OpenedSession, Sessions, type SignInRequest } from "../../identity/sessions/Sessions.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { IssuerUsers } from "./IssuerUsers.ts"

type Failed = Unauthenticated | RateLimited | IssuerUnavailable | StoreUnavailable

export interface BegunSignIn {
  /** Where the browser signs in. */
  readonly url: string
  /** For a cookie of the browser. */
  readonly secret: string
}

export interface ReturnedBrowser {
  /** Of all sign-ins that it has begun; the query's `state` tells which one this is. */
  readonly secrets: ReadonlyArray<string>
  readonly redirectUri: string
  readonly query: string
}

export interface EndedSignIn {
  readonly opened: OpenedSession
  /** Of the sign-in that has ended. */
  readonly secret: string
}

export interface TokenUser {
  readonly userId: UserId
  readonly accountId: AccountId
  /** By the claims of this token. */
  readonly isOperator: boolean
}

export interface OidcSignInShape {
  /** Not found where people sign in by links of the gateway. */
  readonly begin: (redirectUri: string) => Effect.Effect<BegunSignIn, NotFound | IssuerUnavailable>
  /** Signs the person in whom the issuer sent back with this query, at the browser that began. */
  readonly end: (returned: ReturnedBrowser, request: SignInRequest) => Effect.Effect<EndedSignIn, Failed>
  /** The person of the issuer's token; failures count as those of `Sessions.authenticate`. */
  readonly authenticate: (
    token: string,
    request: { readonly address: string; readonly requestId: RequestId }
  ) => Effect.Effect<TokenUser, Failed>
}

/** Signing in at an OpenID provider. */
export class OidcSignIn extends Context.Tag("gateway/account/OidcSignIn")<OidcSignIn, OidcSignInShape>() {
  static readonly layer: Layer.Layer<
    OidcSignIn,
    never,
    AccountTransactions | Issuer | IssuerUsers | Sessions | SignInFlowStore | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )

  /** Without OIDC_ISSUER. Tokens of strangers are counted like every wrong one. */
  static readonly layerOff: Layer.Layer<OidcSignIn, never, Sessions> = Layer.effect(
    this,
    Effect.map(Sessions, (sessions) => {
      const refused = (address: string) => sessions.guarded(address, Effect.fail(new Unauthenticated()))
      return {
        begin: () =>
          Effect.fail(new NotFound({ message: "No identity provider is configured: users sign in with a link." })),
        end: (_, { address }) => refused(address),
        authenticate: (_, { address }) => refused(address)
      }
    })
  )
}

/** A person may have to find their second factor. */
export const flowMillis = 600_000

const make = Effect.gen(function* () {
  const issuer = yield* Issuer
  const users = yield* IssuerUsers
  const flows = yield* SignInFlowStore
  const sessions = yield* Sessions
  const transactions = yield* AccountTransactions
  const timers = yield* Timers

  /** Nodes may differ in their clocks as the issuer may. */
  const leewayMillis = leewaySeconds * 1_000
  const isCurrent = (secret: string): boolean => {
    const ageMillis = timers.now() - (begunMillisOf(secret) ?? 0)
    return ageMillis >= -leewayMillis && ageMillis < flowMillis
  }

  return OidcSignIn.of({
    begin: (redirectUri) =>
      Effect.gen(function* () {
        const secret = mintSecret(randomFillSync, timers.now())
        return { url: yield* issuer.authorizationUrl(flowOf(secret), redirectUri), secret }
      }),
    end: ({ query, redirectUri, secrets }, request) =>
      sessions.guarded(
        request.address,
        Effect.gen(function* () {
          const state = new URLSearchParams(query).get("state")
          const secret = secrets.find((one) => flowOf(one).state === state)
          // what another page sends back ends none of the browser's sign-ins
          if (secret === undefined || !isCurrent(secret)) return yield* new Unauthenticated()
          const flow = flowOf(secret)
          const person = yield* issuer.redeem(flow, redirectUri, query)
          const opened = yield* transactions.commit(() =>
            Effect.gen(function* () {
              const now = timers.now()
              // longer than any node takes it for current
              const keptUntil = dateAt(now + flowMillis + 2 * leewayMillis)
              if (!(yield* flows.end(flow.hash, keptUntil, dateAt(now)))) return yield* new Unauthenticated()
              const user = yield* users.signedIn(person, request)
              return yield* sessions.open({ userId: user.id, accountId: user.accountId }, request)
            })
          )
          return { opened, secret }
        })
      ),
    authenticate: (token, request) =>
      sessions.guarded(
        request.address,
        Effect.gen(function* () {
          const person = yield* issuer.verify(token)
          const user = yield* users.seen(person, request)
          return { userId: user.id, accountId: user.accountId, isOperator: person.isOperator }
        })
      )
  })
})
