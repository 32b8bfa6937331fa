import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { NotFound } from "../../../domain/AccountError.ts"
import { CurrentUser, type CurrentUserShape } from "../../../domain/CurrentUser.ts"
import { Unauthenticated } from "../../../domain/GatewayError.ts"
import { SessionId } from "../../../domain/Ids.ts"
import { PublicUrl, signInUrl } from "../../../identity/sessions/PublicUrl.ts"
import type { Session } from "../../../identity/sessions/SessionStore.ts"
import { maxSessionMillis, Sessions } from "../../../identity/sessions/Sessions.ts"
import { SignIn, type SignInCode } from "../../../identity/sessions/SignIn.ts"
import { SessionLink, type SessionOut } from "../../../wire/account/Sessions.ts"
import { ClientAddress } from "../../ClientAddress.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent, withHeader } from "../Idempotent.ts"
import { Identity, isSameOrigin } from "../Identity.ts"
import * as Incoming from "../Incoming.ts"
import { page } from "../Paging.ts"
import * as SessionCookie from "../SessionCookie.ts"

export const sessionHandlers = HttpApiBuilder.group(AccountApi, "session", (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const signIn = yield* SignIn
    const publicUrl = yield* PublicUrl
    const clients = yield* ClientAddress
    const identify = yield* Identity
    const idempotency = yield* AccountIdempotency

    const current = Effect.gen(function* () {
      const user = yield* CurrentUser
      if (user.sessionId === null) return yield* new NotFound({ message: "The request was sent without a session." })
      return { user, id: user.sessionId }
    })

    return handlers
      .handle("createSession", ({ payload, request }) =>
        Effect.gen(function* () {
          const { address, port, requestId } = Incoming.of(request, clients)
          const { code, transport } = payload
          if (transport === "cookie" && !isSameOrigin(request.headers)) return yield* new Unauthenticated()
          const userAgent = request.headers["user-agent"]
          const opened = yield* signIn.exchange(code, { transport, address, requestId, userAgent })
          if (transport === "bearer") return { token: opened.token, expires_at: opened.expiresAt }
          const cookie = SessionCookie.set(publicUrl.at(port), opened.token, maxSessionMillis / 1_000)
          yield* withHeader("set-cookie", cookie)
          return { csrf_token: opened.pageToken, expires_at: opened.expiresAt }
        })
      )
      .handle("getSession", () =>
        Effect.gen(function* () {
          const { id, user } = yield* current
          return outOf(user)(yield* sessions.find(user.userId, id))
        })
      )
      .handle("deleteSession", ({ request }) =>
        Effect.gen(function* () {
          const { id, user } = yield* current
          yield* sessions.revoke(user, id)
          if (user.transport === "cookie") {
            yield* withHeader("set-cookie", SessionCookie.cleared(publicUrl.at(Incoming.portOf(request))))
          }
        })
      )
      .handle("listSessions", ({ urlParams }) =>
        Effect.flatMap(CurrentUser, (user) =>
          page(
            "sessions",
            urlParams,
            (id) => SessionId.make(id),
            (max, before) => sessions.list(user.userId, max, before),
            outOf(user)
          )
        )
      )
      .handle("revokeSession", ({ path }) => Effect.flatMap(CurrentUser, (user) => sessions.revoke(user, path.id)))
      .handle("createSessionLink", ({ headers, request }) =>
        Effect.gen(function* () {
          const incoming = Incoming.of(request, clients)
          const proof = headers["x-sign-in-proof"]
          const linkOf = ({ code, expiresAt }: SignInCode) => ({
            url: signInUrl(publicUrl.at(incoming.port), code),
            expires_at: expiresAt
          })
          if (proof !== undefined) return linkOf(yield* signIn.codeByProof(proof, incoming))
          const user = yield* identify
          return yield* idempotent(
            idempotency,
            headers["idempotency-key"],
            { body: null, schema: SessionLink, mayReplay: Effect.void },
            Effect.map(signIn.codeFor(user), linkOf)
          ).pipe(Effect.provideService(CurrentUser, user))
        })
      )
  })
)

const outOf =
  (user: CurrentUserShape) =>
  (session: Session): typeof SessionOut.Type => ({
    id: session.id,
    user_id: session.userId,
    transport: session.transport,
    is_current: session.id === user.sessionId,
    address: session.address,
    user_agent: session.userAgent,
    created_at: session.createdAt,
    seen_at: session.seenAt,
    expires_at: session.expiresAt
  })
