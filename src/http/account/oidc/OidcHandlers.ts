import * as Cookies from "@effect/platform/Cookies"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { flowMillis, OidcSignIn } from "../../../account/oidc/OidcSignIn.ts"
import { PublicUrl } from "../../../identity/sessions/PublicUrl.ts"
import { maxSessionMillis } from "../../../identity/sessions/Sessions.ts"
import { ClientAddress } from "../../ClientAddress.ts"
import { AccountApi } from "../AccountApi.ts"
import * as Incoming from "../Incoming.ts"
import * as SessionCookie from "../SessionCookie.ts"

export const oidcHandlers = HttpApiBuilder.group(AccountApi, "oidc", (handlers) =>
  Effect.gen(function* () {
    const oidc = yield* OidcSignIn
    const publicUrl = yield* PublicUrl
    const clients = yield* ClientAddress
    const redirectUriAt = (base: string): string => `${base}/api/session/oidc/callback`

    /** A browser that cannot be signed in is led to the page where a person can try again; a script gets the error. */
    const orToSignInPage =
      (request: HttpServerRequest.HttpServerRequest) =>
      <E extends { readonly _tag: string }>(attempt: Effect.Effect<HttpServerResponse.HttpServerResponse, E>) =>
        !(request.headers["accept"] ?? "").includes("text/html")
          ? attempt
          : Effect.catchAll(attempt, ({ _tag }) => {
              const base = publicUrl.at(Incoming.portOf(request))
              return Effect.succeed(
                redirect(`${base}/dashboard/sign-in#error=${failures.get(_tag) ?? "unavailable"}`, [])
              )
            })

    return handlers
      .handleRaw("startOidc", ({ request }) =>
        Effect.gen(function* () {
          const base = publicUrl.at(Incoming.portOf(request))
          const { secret, url } = yield* oidc.begin(redirectUriAt(base))
          return redirect(url, [flowCookie(base, [secret, ...begunIn(request, base)])])
        }).pipe(orToSignInPage(request))
      )
      .handleRaw("finishOidc", ({ request }) =>
        Effect.gen(function* () {
          const { address, port, requestId } = Incoming.of(request, clients)
          const base = publicUrl.at(port)
          const returned = {
            secrets: begunIn(request, base),
            redirectUri: redirectUriAt(base),
            query: request.url.split("?")[1] ?? ""
          }
          const { opened, secret } = yield* oidc.end(returned, {
            transport: "cookie",
            address,
            requestId,
            userAgent: request.headers["user-agent"]
          })
          const fragment = new URLSearchParams({
            csrf_token: opened.pageToken,
            expires_at: opened.expiresAt.toISOString()
          })
          return redirect(`${base}/dashboard/sign-in#${fragment}`, [
            SessionCookie.set(base, opened.token, maxSessionMillis / 1_000),
            flowCookie(
              base,
              returned.secrets.filter((one) => one !== secret)
            )
          ])
        }).pipe(orToSignInPage(request))
      )
  })
)

/** The sign-ins that the browser has begun, in its tabs. */
const begunIn = (request: HttpServerRequest.HttpServerRequest, base: string): ReadonlyArray<string> =>
  SessionCookie.flowsIn(request.cookies[SessionCookie.flowNameAt(base)])

const flowCookie = (base: string, secrets: ReadonlyArray<string>): string =>
  SessionCookie.setFlows(base, secrets, flowMillis / 1_000)

/** What the page says of a failed sign-in, by the error; of all others that it is to be tried later. */
const failures: ReadonlyMap<string, string> = new Map([
  ["Unauthenticated", "refused"],
  ["NotFound", "not_configured"]
])

const redirect = (location: string, setCookies: ReadonlyArray<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.mergeCookies(
    HttpServerResponse.empty({ status: 303, headers: { location } }),
    Cookies.fromSetCookie(setCookies)
  )
