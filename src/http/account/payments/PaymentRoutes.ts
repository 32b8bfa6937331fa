import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Checkouts } from "../../../account/payments/Checkouts.ts"
import type { PaymentFact } from "../../../account/payments/PaymentFact.ts"
import { PaymentFacts } from "../../../account/payments/PaymentFacts.ts"
import type { Payment } from "../../../account/payments/PaymentStore.ts"
import { Payments } from "../../../account/payments/Payments.ts"
import { InvalidRequest, type StoreUnavailable, UnknownPath } from "../../../domain/GatewayError.ts"
import { paymentPaths } from "../../Paths.ts"
import * as Body from "../../server/Body.ts"
import { answered } from "../../server/RouterResponse.ts"
import { statusOf } from "./PaymentStatus.ts"
import * as TestCheckoutPage from "./TestCheckoutPage.ts"

type Handler = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

export interface PaymentRoute {
  readonly method: "GET" | "POST"
  readonly path: (typeof paymentPaths)[keyof typeof paymentPaths]
  readonly handler: Handler
}

/** What the payment provider and the buyer's browser call, without an identity. */
export class PaymentRoutes extends Context.Tag("gateway/http/PaymentRoutes")<
  PaymentRoutes,
  ReadonlyArray<PaymentRoute>
>() {
  static readonly layer: Layer.Layer<PaymentRoutes, never, Checkouts | PaymentFacts | Payments> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxEventBytes = 1024 * 1024

const make = Effect.gen(function* () {
  const payments = yield* Payments
  const facts = yield* PaymentFacts
  const checkouts = yield* Checkouts
  const verify = checkouts?.verify

  const webhook: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    InvalidRequest | StoreUnavailable | UnknownPath,
    HttpServerRequest.HttpServerRequest
  > =
    verify === undefined
      ? Effect.fail(new UnknownPath({ path: paymentPaths.stripeWebhook }))
      : Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const { bytes } = yield* Body.read(NodeHttpServerRequest.toIncomingMessage(request), maxEventBytes)
          const signature = request.headers["stripe-signature"] ?? ""
          const event = yield* Effect.mapError(verify(bytes, signature), () => wrongSignature)
          if (Option.isSome(event)) yield* facts.record(event.value.fact, event.value.id)
          return HttpServerResponse.unsafeJson({ received: true })
        })

  const session = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const query = new URLSearchParams(request.url.split("?", 2)[1] ?? "")
    const found = yield* payments.testSession(query.get("session") ?? "")
    if (found?.sessionId == null || checkouts?.provider !== "test" || !checkouts.isOpen()) {
      return yield* new UnknownPath({ path: paymentPaths.testCheckout })
    }
    return { payment: found, sessionId: found.sessionId, action: query.get("action") }
  })
  const show = Effect.map(session, ({ payment, sessionId }) =>
    TestCheckoutPage.page(sessionId, payment.amountCents, statusOf(payment))
  )
  const decide = Effect.gen(function* () {
    const { action, payment, sessionId } = yield* session
    const fact = factOf(action, payment, sessionId)
    if (fact === undefined) return yield* unknownAction
    // the first decision counts
    yield* facts.record(fact, `test:${sessionId}`)
    return HttpServerResponse.empty({
      status: 303,
      headers: { location: TestCheckoutPage.returnPath(sessionId) }
    })
  })

  return [
    { method: "POST", path: paymentPaths.stripeWebhook, handler: answered(webhook) },
    { method: "GET", path: paymentPaths.testCheckout, handler: answered(show) },
    { method: "POST", path: paymentPaths.testCheckout, handler: answered(decide) }
  ] as const satisfies ReadonlyArray<PaymentRoute>
})

const decisions = {
  pay: { state: "paid", failure: null },
  decline: { state: "failed", failure: { category: "card_declined", message: "The test card was declined." } },
  abandon: { state: "expired", failure: null }
} as const

const isDecision = (action: string | null): action is keyof typeof decisions =>
  action !== null && Object.hasOwn(decisions, action)

const factOf = (action: string | null, payment: Payment, sessionId: string): PaymentFact | undefined =>
  isDecision(action)
    ? {
        _tag: "Session",
        sessionId,
        paymentId: payment.id,
        amountCents: payment.amountCents,
        currency: "usd",
        paymentIntent: null,
        ...decisions[action]
      }
    : undefined

const wrongSignature = new InvalidRequest({
  code: "invalid_value",
  message: "The signature is missing or wrong, or its time is too far from now.",
  param: "stripe-signature"
})

const unknownAction = new InvalidRequest({
  code: "invalid_value",
  message: "action must be pay, decline or abandon.",
  param: "action"
})
