import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { AccountId, RequestId } from "../../../domain/Ids.ts"
import {
  BalanceOut,
  CreateCreditRequest,
  InFlightOut,
  InFlightPage,
  LedgerPage
} from "../../../wire/account/Billing.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import * as Errors from "../DeclaredErrors.ts"
import { RequiredIdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getBalance = HttpApiEndpoint.get("getBalance", "/api/me/balance")
  .addSuccess(BalanceOut)
  .annotate(OpenApi.Summary, "The balance of the own account")

const getAnyBalance = HttpApiEndpoint.get("getAnyBalance", "/api/admin/accounts/:id/balance")
  .setPath(Schema.Struct({ id: sentId(AccountId, "Id of the account.") }))
  .addSuccess(BalanceOut)
  .addError(Errors.NotFound)
  .addError(Errors.OperatorRequired)
  .annotate(OpenApi.Summary, "The balance of any account")
  .annotate(OpenApi.Description, "For operators.")

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

const stopInFlight = HttpApiEndpoint.post("stopInFlight", "/api/projects/:id/in-flight/:request_id/stop")
  .setPath(
    Schema.Struct({
      ...ProjectPath.fields,
      request_id: sentId(RequestId, "Id of the running call.")
    })
  )
  .addSuccess(InFlightOut, { status: 202 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Stop a running call")
  .annotate(
    OpenApi.Description,
    "For members. The call ends a moment later, on whichever node it runs: its client receives the error `call_stopped`, and it is charged as if its client had left. The answer is the call with what it still held."
  )

const createCredit = HttpApiEndpoint.post("createCredit", "/api/admin/accounts/:id/credits")
  .setPath(Schema.Struct({ id: sentId(AccountId, "Id of the account.") }))
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
  .add(getAnyBalance)
  .add(listLedger)
  .add(listInFlight)
  .add(stopInFlight)
  .add(createCredit)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Balance, ledger and credits.")
