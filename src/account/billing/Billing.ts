import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { NotFound, OperatorRequired, type RoleRequired } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { AccountId, ProjectId, RequestId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { CreateCreditRequest } from "../../wire/account/Billing.ts"
import { checkedInput } from "../input/CheckedInput.ts"
import { BalanceStore, type Entry, type Money, type OpenHold } from "./BalanceStore.ts"

/** Reads and raises the money of accounts, each time as `CurrentUser`. */
export interface BillingShape {
  /** Of the current user's account. */
  readonly balance: Effect.Effect<Money, StoreUnavailable, CurrentUser>
  /** Of any account; for operators. */
  readonly balanceOf: (
    account: AccountId
  ) => Effect.Effect<Money, OperatorRequired | NotFound | StoreUnavailable, CurrentUser>
  /** The movements of that account's money, newest first, those before `before`, an id of one; none before a text that is no id. */
  readonly entries: (
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<Entry>, StoreUnavailable, CurrentUser>
  /** What is held for the running calls of a project, newest first. */
  readonly inFlight: (
    project: ProjectId,
    max: number,
    before: RequestId | undefined
  ) => Effect.Effect<ReadonlyArray<OpenHold>, NotFound | StoreUnavailable, CurrentUser>
  /**
   * Ends a running call of a project, on whichever node it runs; for members. It is charged as if its client had left. What it
   * held when it was stopped.
   */
  readonly stop: (
    project: ProjectId,
    call: RequestId
  ) => Effect.Effect<OpenHold, NotFound | RoleRequired | StoreUnavailable, CurrentUser>
  /** An operator's gift to any account; what the account has afterwards. */
  readonly credit: (
    account: AccountId,
    amountMicroUsd: number,
    note: string
  ) => Effect.Effect<Money, OperatorRequired | NotFound | InvalidRequest | StoreUnavailable, CurrentUser>
}

/** The money of people's accounts. */
export class Billing extends Context.Tag("gateway/account/Billing")<Billing, BillingShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<
    Billing,
    never,
    AccountTransactions | Audit | BalanceStore | IdGenerator | ProjectAccess | Scopes
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* BalanceStore
  const access = yield* ProjectAccess
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  const found = (account: AccountId) =>
    Effect.flatMap(store.balance(account), (money) =>
      money === undefined ? Effect.fail(new NotFound({ message: "Account not found." })) : Effect.succeed(money)
    )

  return Billing.of({
    balance: Effect.flatMap(CurrentUser, ({ accountId }) => ownBalance(found(accountId))),
    balanceOf: (account) =>
      Effect.gen(function* () {
        if ((yield* CurrentUser).isOperator) return yield* found(account)
        return yield* new OperatorRequired({ message: "Only an operator may see the balance of any account." })
      }),
    entries: (max, before) => Effect.flatMap(CurrentUser, ({ accountId }) => store.entries(accountId, max, before)),
    inFlight: (project, max, before) => Effect.zipRight(access.find(project), store.openHolds(project, max, before)),
    stop: (project, call) =>
      transactions.commit((announce) =>
        Effect.gen(function* () {
          const { accountId } = yield* access.require(project, "member")
          const hold = yield* store.openHold(project, call)
          if (hold === undefined) return yield* notRunning
          yield* audit.record({
            accountId,
            action: "call.stop",
            target: { kind: "call", id: call },
            before: { requested_model: hold.requestedModel, held_microusd: hold.amountMicroUsd },
            after: null
          })
          yield* announce({ kind: "call", id: call })
          return hold
        })
      ),
    credit: (account, amountMicroUsd, note) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const actor = yield* CurrentUser
          if (!actor.isOperator)
            return yield* new OperatorRequired({ message: "Only an operator may credit an account." })
          yield* checkCredit({ amount_microusd: amountMicroUsd, note })
          yield* found(account)
          const source = `operator:${ids.uuid()}`
          yield* audit.record({
            accountId: account,
            action: "account.credit",
            target: { kind: "account", id: account },
            before: null,
            after: { amount_microusd: amountMicroUsd, note, source }
          })
          // last, since the calls of the account wait for the lock
          yield* store.lock(account)
          const { creditedMicroUsd } = yield* found(account)
          if (creditedMicroUsd + amountMicroUsd > maxCreditedMicroUsd) return yield* tooMuch
          yield* scopes.credit(account, amountMicroUsd, source, note)
          return yield* found(account)
        })
      )
  })
})

const checkCredit = checkedInput(CreateCreditRequest)

const notRunning = new NotFound({ message: "Running call not found in this project." })

const ownBalance = <R>(balance: Effect.Effect<Money, NotFound | StoreUnavailable, R>) =>
  Effect.catchTag(balance, "NotFound", () => Effect.dieMessage("every account has a scope"))

/** Sums of money stay exact in a JSON number. */
const maxCreditedMicroUsd = Number.MAX_SAFE_INTEGER

const tooMuch = new InvalidRequest({
  code: "invalid_value",
  message: "The credit of the account would exceed the maximum amount.",
  param: "amount_microusd"
})
