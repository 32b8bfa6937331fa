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

const AccountPath = Schema.Struct({ id: sentId(AccountId, "Id of the account.") })

const getBalance = HttpApiEndpoint.get("getBalance", "/api/me/balance")
  .addSuccess(BalanceOut)
  .annotate(OpenApi.Summary, "Get the balance of the caller's account")

const getAnyBalance = HttpApiEndpoint.get("getAnyBalance", "/api/admin/accounts/:id/balance")
  .setPath(AccountPath)
  .addSuccess(BalanceOut)
  .addError(Errors.NotFound)
  .addError(Errors.OperatorRequired)
  .annotate(OpenApi.Summary, "Get the balance of any account")
  .annotate(OpenApi.Description, "Requires the operator role.")

const listLedger = HttpApiEndpoint.get("listLedger", "/api/me/ledger")
  .setUrlParams(PageParameters("ledger"))
  .addSuccess(LedgerPage)
  .annotate(OpenApi.Summary, "List the ledger entries of the caller's account")
  .annotate(
    OpenApi.Description,
    "Each entry is one movement of money, with the account that it debits and the one that it credits."
  )

const listInFlight = HttpApiEndpoint.get("listInFlight", "/api/projects/:id/in-flight")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("in-flight"))
  .addSuccess(InFlightPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the running calls of a project with the amounts they hold")

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
    "Requires the member role. The call ends shortly afterwards, on whichever node it runs: its client receives the error `call_stopped`, and it is charged as if the client had disconnected. Returns the call with the amount that it still held."
  )

const createCredit = HttpApiEndpoint.post("createCredit", "/api/admin/accounts/:id/credits")
  .setPath(AccountPath)
  .setHeaders(RequiredIdempotencyHeaders)
  .setPayload(CreateCreditRequest)
  .addSuccess(BalanceOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.OperatorRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Credit an account")
  .annotate(OpenApi.Description, "Requires the operator role. Returns the account's balance afterwards.")

export const BillingGroup = HttpApiGroup.make("billing")
  .add(getBalance)
  .add(getAnyBalance)
  .add(listLedger)
  .add(listInFlight)
  .add(stopInFlight)
  .add(createCredit)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Balance, ledger and credits.")
