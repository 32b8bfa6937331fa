import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { PageParameters } from "../../../wire/account/Page.ts"
import {
  CheckoutStatusOut,
  CreateCheckoutRequest,
  CreateCheckoutResponse,
  PaymentsPage
} from "../../../wire/account/Payments.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"

const createCheckout = HttpApiEndpoint.post("createCheckout", "/api/me/checkout")
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateCheckoutRequest)
  .addSuccess(CreateCheckoutResponse, { status: 201 })
  .addError(Errors.IdempotencyKeyInProgress)
  .addError(Errors.PaymentsNotConfigured)
  .addError(Errors.PaymentProviderFailed)
  .annotate(OpenApi.Summary, "Create a checkout session to buy credit for the caller's account")
  .annotate(
    OpenApi.Description,
    "Opens a checkout page. The account is credited when the payment provider confirms the payment."
  )

const getCheckout = HttpApiEndpoint.get("getCheckout", "/api/me/checkout/:session_id")
  .setPath(Schema.Struct({ session_id: Schema.String.annotations({ description: "Id of the checkout session." }) }))
  .addSuccess(CheckoutStatusOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get a checkout session")

const listPayments = HttpApiEndpoint.get("listPayments", "/api/me/payments")
  .setUrlParams(PageParameters("payments"))
  .addSuccess(PaymentsPage)
  .annotate(OpenApi.Summary, "List the payments of the caller's account")

export const PaymentsGroup = HttpApiGroup.make("payments")
  .add(createCheckout)
  .add(getCheckout)
  .add(listPayments)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Checkout and payments.")
