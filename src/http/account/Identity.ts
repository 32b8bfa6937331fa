import type { IncomingMessage } from "node:http"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { OidcSignIn } from "../../account/oidc/OidcSignIn.ts"
import { CurrentUser, type CurrentUserShape } from "../../domain/CurrentUser.ts"
import { Unauthenticated } from "../../domain/GatewayError.ts"
import { CommandAccess } from "../../identity/sessions/CommandAccess.ts"
import { PublicUrl } from "../../identity/sessions/PublicUrl.ts"
import { Sessions } from "../../identity/sessions/Sessions.ts"
import { isPageTokenOf, isToken } from "../../identity/sessions/SessionToken.ts"
import { ClientAddress } from "../ClientAddress.ts"
import * as DeclaredErrors from "./DeclaredErrors.ts"
import * as Incoming from "./Incoming.ts"
import * as SessionCookie from "./SessionCookie.ts"

/**
 * Who sends the request: by a token as bearer, of a session or of the identity provider, or by the session cookie together with its page token. Whatever is
 * missing or wrong, the error is the same.
 */
export class Identity extends HttpApiMiddleware.Tag<Identity>()("gateway/http/account/Identity", {
  provides: CurrentUser,
  failure: DeclaredErrors.Common
}) {
  /** @internal */
  static readonly layer: Layer.Layer<
    Identity,
    never,
    ClientAddress | CommandAccess | OidcSignIn | PublicUrl | Sessions
  > = Layer.effect(
    this,
    Effect.suspend(() =>
      Effect.map(Effect.all([identifies, ClientAddress]), ([identify, address]) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const identified = identify(request, Incoming.of(request, address))
          return Effect.tap(identified, ({ transport }) =>
            Effect.sync(() => {
              // the proof of a command counts once
              if (transport !== "command") identifications.set(toIncomingMessage(request), identified)
            })
          )
        })
      )
    )
  )
}

type Identified = ReturnType<Effect.Effect.Success<typeof identifies>>

const identifications = new WeakMap<IncomingMessage, Identified>()

/** Identifies the sender of an identified request again; does nothing for any other request. */
export const identifiedAgain = (
  request: IncomingMessage
): Effect.Effect<CurrentUserShape | undefined, Effect.Effect.Error<Identified>> =>
  Effect.suspend((): ReturnType<typeof identifiedAgain> => identifications.get(request) ?? Effect.succeed(undefined))

/** What of a request tells who sends it. */
export type Credentials = Pick<HttpServerRequest.HttpServerRequest, "cookies" | "headers">

/** Who sends a request; for requests that the platform's router does not serve, too. */
export const identifies = Effect.gen(function* () {
  const sessions = yield* Sessions
  const oidc = yield* OidcSignIn
  const publicUrl = yield* PublicUrl
  const commands = yield* CommandAccess
  return (credentials: Credentials, from: Incoming.Incoming) =>
    Effect.gen(function* () {
      const proof = credentials.headers[proofHeader]
      if (proof !== undefined) {
        const operator = yield* commands.authenticate(proof)
        const user = { userId: operator.id, accountId: operator.accountId, isOperator: true }
        return userOf(user, null, "command", from)
      }
      const sent = credentialOf(credentials, publicUrl.at(from.port))
      if (sent === undefined) return yield* new Unauthenticated()
      if (sent.transport === "bearer" && !isToken(sent.token)) {
        const user = yield* oidc.authenticate(sent.token, from)
        return userOf(user, null, sent.transport, from)
      }
      const session = yield* sessions.authenticate(sent.token, from.address)
      // each form only with the token that was made for it: a stolen cookie is no bearer
      if (session.transport !== sent.transport) return yield* new Unauthenticated()
      return userOf(session, session.id, sent.transport, from)
    })
})

interface Credential {
  readonly token: string
  readonly transport: "cookie" | "bearer"
}

/** What the command sends in place of an identity. */
export const proofHeader = "x-command-proof"

const userOf = (
  { accountId, isOperator, userId }: Pick<CurrentUserShape, "userId" | "accountId" | "isOperator">,
  sessionId: CurrentUserShape["sessionId"],
  transport: CurrentUserShape["transport"],
  { address, requestId }: Incoming.Incoming
): CurrentUserShape => ({ userId, accountId, isOperator, sessionId, transport, address, requestId })

const credentialOf = ({ cookies, headers }: Credentials, publicUrl: string): Credential | undefined => {
  const authorization = headers["authorization"]
  if (authorization !== undefined) {
    const token = /^bearer ([^ ]+)$/i.exec(authorization)?.[1]
    return token === undefined ? undefined : { token, transport: "bearer" }
  }
  const token = cookies[SessionCookie.nameAt(publicUrl)]
  if (token === undefined || !isSameOrigin(headers) || !isPageTokenOf(headers["x-csrf-token"] ?? "", token)) {
    return undefined
  }
  return { token, transport: "cookie" }
}

/** A page of another port of the same host sends the cookie too; the browser tells where the page came from. */
export const isSameOrigin = (headers: Readonly<Record<string, string | undefined>>): boolean =>
  (headers["sec-fetch-site"] ?? "same-origin") === "same-origin"
