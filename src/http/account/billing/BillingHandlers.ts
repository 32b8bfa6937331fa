import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { requireOperator } from "../../../account/admin/Admin.ts"
import type { Entry, Money, OpenHold } from "../../../account/billing/BalanceStore.ts"
import { Billing } from "../../../account/billing/Billing.ts"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { RequestId } from "../../../domain/Ids.ts"
import { BalanceOut, type InFlightOut, type LedgerEntryOut } from "../../../wire/account/Billing.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent } from "../Idempotent.ts"
import { page } from "../Paging.ts"

export const billingHandlers = HttpApiBuilder.group(AccountApi, "billing", (handlers) =>
  Effect.gen(function* () {
    const billing = yield* Billing
    const idempotency = yield* AccountIdempotency
    return handlers
      .handle("getBalance", () => Effect.map(billing.balance, balanceOut))
      .handle("getAnyBalance", ({ path }) => Effect.map(billing.balanceOf(path.id), balanceOut))
      .handle("listLedger", ({ urlParams }) => page("ledger", urlParams, (id) => id, billing.entries, entryOf))
      .handle("listInFlight", ({ path, urlParams }) =>
        page(
          "in-flight",
          urlParams,
          (id) => RequestId.make(id),
          (max, before) => billing.inFlight(path.id, max, before),
          holdOf
        )
      )
      .handle("stopInFlight", ({ path }) => Effect.map(billing.stop(path.id, path.request_id), holdOf))
      .handle("createCredit", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: BalanceOut,
            mayReplay: requireOperator
          },
          Effect.map(billing.credit(path.id, payload.amount_microusd, payload.note), balanceOut)
        )
      )
  })
)

export const balanceOut = ({ creditedMicroUsd, heldMicroUsd, spentMicroUsd }: Money): typeof BalanceOut.Type => ({
  credited_microusd: creditedMicroUsd,
  spent_microusd: spentMicroUsd,
  held_microusd: heldMicroUsd,
  available_microusd: creditedMicroUsd - spentMicroUsd - heldMicroUsd
})

const entryOf = (entry: Entry): typeof LedgerEntryOut.Type => ({
  id: entry.id,
  kind: entry.kind,
  debit: entry.debit,
  credit: entry.credit,
  amount_microusd: entry.amountMicroUsd,
  call_id: entry.callId,
  source: entry.source,
  note: entry.note,
  at: entry.at
})

const holdOf = (hold: OpenHold): typeof InFlightOut.Type => ({
  id: hold.id,
  key_id: hold.keyId,
  key_name: hold.keyName,
  requested_model: hold.requestedModel,
  held_microusd: hold.amountMicroUsd,
  billing_mode: hold.managed ? "managed" : "byok",
  started_at: hold.createdAt
})
