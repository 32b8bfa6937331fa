import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Errors from "../DeclaredErrors.ts"

const startOidc = HttpApiEndpoint.get("startOidc", "/api/session/oidc/start")
  .addSuccess(HttpApiSchema.Empty(303))
  .addError(Errors.Common)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Sign in with the identity provider")
  .annotate(
    OpenApi.Description,
    "For browsers: redirects to the identity provider of `OIDC_ISSUER`, with a cookie for the callback. Not found without one."
  )

const finishOidc = HttpApiEndpoint.get("finishOidc", "/api/session/oidc/callback")
  .addSuccess(HttpApiSchema.Empty(303))
  .addError(Errors.Common)
  .annotate(OpenApi.Summary, "Callback of the identity provider")
  .annotate(
    OpenApi.Description,
    "The redirect URI to register with the identity provider. Takes `code`, `state` and `iss`, sets the session's cookie, and redirects to the dashboard's sign-in page with `csrf_token` and `expires_at` in the fragment, which browsers do not send to servers. A browser that cannot be signed in is redirected there with `error` (`refused`, `unavailable`, `not_configured`); other clients receive the error."
  )

export const OidcGroup = HttpApiGroup.make("oidc")
  .add(startOidc)
  .add(finishOidc)
  .annotate(OpenApi.Description, "Sign-in with an OpenID provider, using the authorization code flow with PKCE.")
