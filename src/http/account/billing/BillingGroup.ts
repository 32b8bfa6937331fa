import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { AccountId } from "../../../domain/Ids.ts"
import { BalanceOut, CreateCreditRequest, InFlightPage, LedgerPage } from "../../../wire/account/Billing.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import * as Errors from "../DeclaredErrors.ts"
import { RequiredIdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getBalance = HttpApiEndpoint.get("getBalance", "/api/me/balance")
  .addSuccess(BalanceOut)
  .annotate(OpenApi.Summary, "The balance of the own account")

const listLedger = HttpApiEndpoint.get("listLedger", "/api/me/ledger")
  .setUrlParams(PageParameters)
  .addSuccess(LedgerPage)
  .annotate(OpenApi.Summary, "List the movements of the own account's money")
  .annotate(OpenApi.Description, "Each movement is one entry, with what it debits and what it credits.")

const listInFlight = HttpApiEndpoint.get("listInFlight", "/api/projects/:id/in-flight")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters)
  .addSuccess(InFlightPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the running calls of a project with what they hold")

const createCredit = HttpApiEndpoint.post("createCredit", "/api/admin/accounts/:id/credits")
  .setPath(Schema.Struct({ id: AccountId.annotations({ description: "Id of the account." }) }))
  .setHeaders(RequiredIdempotencyHeaders)
  .setPayload(CreateCreditRequest)
  .addSuccess(BalanceOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.OperatorRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Give an account credit")
  .annotate(OpenApi.Description, "For operators. The answer is the account's balance afterwards.")

export const BillingGroup = HttpApiGroup.make("billing")
  .add(getBalance)
  .add(listLedger)
  .add(listInFlight)
  .add(createCredit)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Balance, ledger and credits.")
