import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { BalanceStore } from "../billing/BalanceStore.ts"
import type { FactOf, PaymentFact } from "./PaymentFact.ts"
import { type Payment, PaymentStore, type Reversal } from "./PaymentStore.ts"
import { type Move, microUsdOf, movesOf, sourceOf } from "./ReversalMoves.ts"

export interface PaymentFactsShape {
  /**
   * Moves the money that a fact moves, in one transaction with the event that tells it. An event that was taken before, and a
   * fact about no payment of ours, change nothing; an amount other than the payment's is an error.
   */
  readonly record: (fact: PaymentFact, eventId: string | null) => Effect.Effect<void, InvalidRequest | StoreUnavailable>
}

/** Takes what providers say of payments. */
export class PaymentFacts extends Context.Tag("gateway/account/PaymentFacts")<PaymentFacts, PaymentFactsShape>() {
  static readonly layer: Layer.Layer<
    PaymentFacts,
    never,
    AccountTransactions | Audit | BalanceStore | PaymentStore | Scopes
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* PaymentStore
  const balances = yield* BalanceStore
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const audit = yield* Audit

  const audited = (payment: Payment, action: string, amountMicroUsd: number, source: string) =>
    audit.recordBy(null, {
      accountId: payment.accountId,
      action,
      target: { kind: "payment", id: payment.id },
      before: null,
      after: { amount_microusd: amountMicroUsd, source }
    })

  const credit = (payment: Payment, amountMicroUsd: number, source: string) =>
    Effect.zipRight(
      audited(payment, "payment.credit", amountMicroUsd, source),
      scopes.credit(payment.accountId, amountMicroUsd, source)
    )

  const payBack = (payment: Payment, kind: Reversal["kind"], amountMicroUsd: number, source: string) =>
    Effect.gen(function* () {
      yield* audited(payment, `payment.${kind}`, amountMicroUsd, source)
      if (!(yield* balances.payBack({ account: payment.accountId, kind, amountMicroUsd, source }))) {
        yield* Effect.dieMessage("each amount of a refund or dispute is paid back once")
      }
    })

  const apply = (payment: Payment, move: Move) =>
    Effect.gen(function* () {
      const { appliedMicroUsd, id, kind, targetMicroUsd } = move
      const source = sourceOf(move)
      if (targetMicroUsd > appliedMicroUsd) yield* payBack(payment, kind, targetMicroUsd - appliedMicroUsd, source)
      else yield* credit(payment, appliedMicroUsd - targetMicroUsd, source)
      yield* store.applied(id, targetMicroUsd)
    })

  /** Moves what is known and has not been moved; the payment is locked. */
  const moveKnown = (payment: Payment) =>
    Effect.gen(function* () {
      const amountMicroUsd = microUsdOf(payment.amountCents)
      if (!payment.isPaid) return
      if (payment.creditedMicroUsd === 0) {
        yield* credit(payment, amountMicroUsd, `checkout:${payment.sessionId}`)
        yield* store.credited(payment.id, amountMicroUsd)
      }
      if (payment.paymentIntent === null) return
      // credits first: the sum of credits is never below zero, not even in between
      const moves = movesOf(amountMicroUsd, yield* store.reversals(payment.paymentIntent))
      for (const move of moves) yield* apply(payment, move)
    })

  const recordSession = (session: FactOf<"Session">) =>
    Effect.gen(function* () {
      const payment = yield* store.find(session.paymentId)
      if (payment === undefined) return
      if (payment.paymentIntent !== null) yield* store.lock([payment.paymentIntent])
      if (!isOf(session, payment)) {
        yield* Effect.logError(`a payment event does not agree with the payment ${payment.id}`)
        return yield* doesNotAgree
      }
      yield* store.know(session)
      yield* Effect.flatMap(store.existing(payment.id), moveKnown)
    })

  const recordReversal = (fact: FactOf<"Refund" | "Reversal">) =>
    Effect.gen(function* () {
      yield* fact._tag === "Refund" ? store.knowRefund(fact) : store.knowReversal(fact)
      const payment = yield* store.findIntent(fact.paymentIntent)
      if (payment !== undefined) yield* moveKnown(payment)
    })

  return PaymentFacts.of({
    record: (fact, eventId) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          if (eventId !== null && !(yield* store.take(eventId))) return
          const intent = fact.paymentIntent === null ? [] : [fact.paymentIntent]
          yield* store.lock(fact._tag === "Session" ? [fact.paymentId, ...intent] : intent)
          yield* fact._tag === "Session" ? recordSession(fact) : recordReversal(fact)
        })
      )
  })
})

const isOf = (session: FactOf<"Session">, payment: Payment): boolean =>
  session.amountCents === payment.amountCents &&
  session.currency === "usd" &&
  (payment.sessionId === null || payment.sessionId === session.sessionId)

const doesNotAgree = new InvalidRequest({
  code: "invalid_value",
  message: "The event does not agree with the payment that it names.",
  param: null
})
