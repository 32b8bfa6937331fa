import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerRespondable from "@effect/platform/HttpServerRespondable"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Defects from "../../observe/Defects.ts"
import * as Errors from "../Errors.ts"
import * as Body from "../server/Body.ts"
import { bodyOfCaller } from "../server/LateBody.ts"
import { errorResponse } from "../server/RouterResponse.ts"
import type { AccountApi } from "./AccountApi.ts"
import { activityHandlers } from "./activity/ActivityHandlers.ts"
import { adminHandlers } from "./admin/AdminHandlers.ts"
import { alertsHandlers } from "./alerts/AlertsHandlers.ts"
import { analysesHandlers } from "./analyses/AnalysesHandlers.ts"
import { auditHandlers } from "./audit/AuditHandlers.ts"
import { billingHandlers } from "./billing/BillingHandlers.ts"
import { captureHandlers } from "./capture/CaptureHandlers.ts"
import { chatHandlers } from "./chat/ChatHandlers.ts"
import { ContentRoutes } from "./chat/ContentRoutes.ts"
import { credentialsHandlers } from "./credentials/CredentialsHandlers.ts"
import * as Failures from "./Failures.ts"
import { Identity, identifiedAgain } from "./Identity.ts"
import { keysHandlers } from "./keys/KeysHandlers.ts"
import { membersHandlers } from "./members/MembersHandlers.ts"
import { oidcHandlers } from "./oidc/OidcHandlers.ts"
import { PaymentRoutes } from "./payments/PaymentRoutes.ts"
import { paymentsHandlers } from "./payments/PaymentsHandlers.ts"
import { policyHandlers } from "./policy/PolicyHandlers.ts"
import { projectsHandlers } from "./projects/ProjectsHandlers.ts"
import { requestsHandlers } from "./requests/RequestsHandlers.ts"
import { routingHandlers } from "./routing/RoutingHandlers.ts"
import { sessionHandlers } from "./session/SessionHandlers.ts"

export interface AccountRoute {
  readonly method: Exclude<HttpMethod.HttpMethod, "HEAD">
  readonly path: HttpRouter.PathInput
  readonly handler: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpRouter.HttpRouter.Provided>
}

type GroupsOf<Api> =
  Api extends HttpApi.HttpApi<infer Id, infer Groups, infer _E, infer _R>
    ? HttpApiGroup.HttpApiGroup.ToService<Id, Groups>
    : never

/** The endpoints of the account API with their handlers, for the server's router. */
export class AccountRoutes extends Context.Tag("gateway/http/AccountRoutes")<
  AccountRoutes,
  ReadonlyArray<AccountRoute>
>() {
  /** Needs the handlers of every group: without those of one it does not compile. */
  private static readonly bound = HttpApiBuilder.Router.unwrap((router) =>
    Layer.effect(
      this,
      Effect.map(
        Effect.context<
          ContentRoutes | PaymentRoutes | GroupsOf<typeof AccountApi> | HttpRouter.HttpRouter.DefaultServices
        >(),
        (context): ReadonlyArray<AccountRoute> => [
          ...Context.get(context, PaymentRoutes),
          ...Context.get(context, ContentRoutes),
          ...Array.from(router.routes).flatMap(({ handler, method, path }) =>
            // no endpoint declares them
            method === "HEAD" || method === "*"
              ? []
              : [{ method, path, handler: answered(Effect.mapInputContext(handler, withServices(context))) }]
          )
        ]
      )
    )
  )

  static readonly layer = this.bound.pipe(
    Layer.provide([
      sessionHandlers,
      projectsHandlers,
      activityHandlers,
      requestsHandlers,
      billingHandlers,
      credentialsHandlers,
      paymentsHandlers,
      PaymentRoutes.layer,
      ContentRoutes.layer,
      keysHandlers,
      policyHandlers,
      routingHandlers,
      oidcHandlers,
      membersHandlers,
      auditHandlers,
      adminHandlers,
      alertsHandlers,
      captureHandlers,
      analysesHandlers,
      chatHandlers
    ]),
    Layer.provide(Identity.layer)
  )

  /** For a server without the account API. */
  static readonly layerNone: Layer.Layer<AccountRoutes> = Layer.succeed(this, [])
}

/** Larger bodies are for endpoints that read them by themselves. */
const maxBodyBytes = 1024 * 1024

const withServices =
  <Services>(context: Context.Context<Services>) =>
  (given: Context.Context<HttpRouter.HttpRouter.Provided>) =>
    Context.merge(context, given)

/** HttpApi's own error responses have no headers, and report a body that is no JSON as a defect. */
const answered = (
  handler: Effect.Effect<HttpServerRespondable.Respondable, unknown, HttpRouter.HttpRouter.Provided>
): AccountRoute["handler"] =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.catchAllCause(
      Effect.provideService(handler, HttpServerRequest.HttpServerRequest, withBoundedBody(request)).pipe(
        Effect.flatMap(HttpServerRespondable.toResponse),
        Effect.map(HttpServerResponse.setHeader("cache-control", "no-store"))
      ),
      (cause) => {
        if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
        const unsendable = Failures.unsendableOf(cause)
        if (unsendable !== undefined) {
          return Effect.as(
            Defects.report(`a response of the account API does not fit its schema: ${unsendable}`, Cause.empty),
            internal
          )
        }
        const error = Failures.errorOf(cause)
        return error === undefined
          ? Effect.as(Defects.report("a request to the account API failed unexpectedly", cause), internal)
          : Effect.succeed(errorResponse(Errors.of(error)))
      }
    )
  )

const internal = errorResponse(Errors.internal)

/**
 * The same request, whose body is read as on `/v1`: when a handler asks for it, as JSON only, with the checks of `Body`. HttpApi
 * asks for another form where the content type is another one, and takes a body that cannot be read for a defect, which
 * `Failures` recognises.
 */
const withBoundedBody = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest => {
  const incoming = NodeHttpServerRequest.toIncomingMessage(request)
  const value = Effect.map(
    bodyOfCaller(undefined, Body.read(incoming, maxBodyBytes), identifiedAgain(incoming)),
    ({ body }) => body.json
  )
  return Object.create(request, {
    json: { value },
    text: { value },
    arrayBuffer: { value },
    urlParamsBody: { value },
    multipart: { value }
  })
}
