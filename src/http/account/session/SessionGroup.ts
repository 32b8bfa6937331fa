import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { SessionId } from "../../../domain/Ids.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import {
  BearerSession,
  CookieSession,
  CreateSessionRequest,
  SessionLink,
  SessionOut,
  SessionsPage
} from "../../../wire/account/Sessions.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"

const createSession = HttpApiEndpoint.post("createSession", "/api/session")
  .setPayload(CreateSessionRequest)
  // one by one: the status of a union is not that of its members
  .addSuccess(CookieSession, { status: 201 })
  .addSuccess(BearerSession, { status: 201 })
  .addError(Errors.Common)
  .annotate(OpenApi.Summary, "Sign in with the code of a sign-in link")
  .annotate(
    OpenApi.Description,
    "With `cookie` the response sets the session's cookie, which is accepted only together with `x-csrf-token`; with `bearer` it contains the token itself."
  )

const getSession = HttpApiEndpoint.get("getSession", "/api/session")
  .addSuccess(SessionOut)
  .addError(Errors.NotFound)
  .middleware(Identity)
  .annotate(OpenApi.Summary, "Get the session of this request")

const deleteSession = HttpApiEndpoint.del("deleteSession", "/api/session")
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .middleware(Identity)
  .annotate(OpenApi.Summary, "Sign out")

const listSessions = HttpApiEndpoint.get("listSessions", "/api/sessions")
  .setUrlParams(PageParameters("sessions"))
  .addSuccess(SessionsPage)
  .middleware(Identity)
  .annotate(OpenApi.Summary, "List the caller's sessions")

const revokeSession = HttpApiEndpoint.del("revokeSession", "/api/sessions/:id")
  .setPath(Schema.Struct({ id: sentId(SessionId, "Id of the session.") }))
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .middleware(Identity)
  .annotate(OpenApi.Summary, "Revoke one of the caller's sessions")
  .annotate(OpenApi.Description, "Within a second no node accepts its token.")

const createSessionLink = HttpApiEndpoint.post("createSessionLink", "/api/session/links")
  .setHeaders(
    Schema.Struct({
      ...IdempotencyHeaders.fields,
      "x-sign-in-proof": Schema.optional(Schema.String).annotations({
        description:
          "Alternative to an identity, as `npm run sign-in` sends it: a time, a random number and an HMAC of both under the master key. The link is then for the operator of the first start; a proof is accepted once, with or without an Idempotency-Key."
      })
    })
  )
  .addSuccess(SessionLink, { status: 201 })
  .addError(Errors.Common)
  .addError(Errors.SealingUnavailable)
  .addError(Errors.NotFound)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a sign-in link for another browser")
  .annotate(
    OpenApi.Description,
    "The link is valid once, for 10 minutes, and no longer than the session that created it. Each request without an Idempotency-Key creates another link. Not found if users sign in with an identity provider."
  )

export const SessionGroup = HttpApiGroup.make("session")
  .add(createSession)
  .add(getSession)
  .add(deleteSession)
  .add(listSessions)
  .add(revokeSession)
  .add(createSessionLink)
  .annotate(OpenApi.Description, "Sign-in and sessions.")
