import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { NotFound, type PaymentProviderFailed, PaymentsNotConfigured } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type RateLimited, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { PaymentId } from "../../domain/Ids.ts"
import { isStorable } from "../../domain/StorableText.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { BalanceStore } from "../billing/BalanceStore.ts"
import { makePace } from "../pace/Pace.ts"
import { Checkouts, type Opened } from "./Checkouts.ts"
import type { PaymentFact } from "./PaymentFact.ts"
import { type Payment, PaymentStore, type Reversal } from "./PaymentStore.ts"

export interface PaymentsShape {
  /** Notes a payment of the current user that is to be made; `open` opens its page. */
  readonly create: (
    amountCents: number
  ) => Effect.Effect<PaymentId, PaymentsNotConfigured | StoreUnavailable, CurrentUser>
  /** Can be repeated: a payment has one page. For the current user. */
  readonly open: (
    id: PaymentId,
    publicUrl: string
  ) => Effect.Effect<
    Opened,
    PaymentsNotConfigured | PaymentProviderFailed | RateLimited | StoreUnavailable,
    CurrentUser
  >
  /** Of the current user; asks the provider about a payment that is not decided, unless they ask too often. */
  readonly read: (sessionId: string) => Effect.Effect<Payment, NotFound | StoreUnavailable, CurrentUser>
  /** Of the current user, newest first, those before `before`. */
  readonly list: (
    max: number,
    before: PaymentId | undefined
  ) => Effect.Effect<ReadonlyArray<Payment>, StoreUnavailable, CurrentUser>
  /** Of anyone: who knows the id of a test session may decide it. */
  readonly testSession: (sessionId: string) => Effect.Effect<Payment | undefined, StoreUnavailable>
  /**
   * Moves the money that a fact moves, in one transaction with the event that tells it. An event that was taken before, and a
   * fact about no payment of ours, change nothing; an amount other than the payment's is an error.
   */
  readonly record: (fact: PaymentFact, eventId: string | null) => Effect.Effect<void, InvalidRequest | StoreUnavailable>
}

/** What people pay for credit. */
export class Payments extends Context.Tag("gateway/account/Payments")<Payments, PaymentsShape>() {
  static readonly layer: Layer.Layer<
    Payments,
    never,
    AccountTransactions | Audit | BalanceStore | Checkouts | IdGenerator | PaymentStore | Scopes
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const microUsdPerCent = 10_000

const make = Effect.gen(function* () {
  const store = yield* PaymentStore
  const balances = yield* BalanceStore
  const scopes = yield* Scopes
  const checkouts = yield* Checkouts
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator
  /** The provider limits how often this service may ask, all its people together. */
  const pace = makePace("checkouts")
  const configured = Effect.suspend(() =>
    checkouts?.isOpen() === true ? Effect.succeed(checkouts) : Effect.fail(notConfigured)
  )

  const findSession = (sessionId: string) =>
    isStorable(sessionId) ? store.findSession(sessionId) : Effect.succeed(undefined)

  const existing = (id: PaymentId) =>
    Effect.flatMap(store.find(id), (found) =>
      found === undefined ? Effect.dieMessage("a payment is never deleted") : Effect.succeed(found)
    )

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

  /** Moves what is known and has not been moved; the payment is locked. */
  const settle = (payment: Payment) =>
    Effect.gen(function* () {
      const amount = payment.amountCents * microUsdPerCent
      if (!payment.isPaid) return
      if (payment.creditedMicroUsd === 0) {
        yield* credit(payment, amount, `checkout:${payment.sessionId}`)
        yield* store.credited(payment.id, amount)
      }
      if (payment.paymentIntent === null) return
      // credits first: the sum of credits is never below zero, not even in between
      const moves = movesOf(amount, yield* store.reversals(payment.paymentIntent))
      for (const { appliedMicroUsd, id, kind, targetMicroUsd } of moves) {
        const source = `${id}:${targetMicroUsd}`
        if (targetMicroUsd > appliedMicroUsd) {
          const amountMicroUsd = targetMicroUsd - appliedMicroUsd
          yield* audited(payment, `payment.${kind}`, amountMicroUsd, source)
          if (!(yield* balances.payBack({ account: payment.accountId, kind, amountMicroUsd, source }))) {
            yield* Effect.dieMessage("what is paid back of a payment only rises until it is reinstated")
          }
        } else yield* credit(payment, appliedMicroUsd - targetMicroUsd, source)
        yield* store.applied(id, targetMicroUsd)
      }
    })

  const recordSession = (session: Extract<PaymentFact, { readonly _tag: "Session" }>) =>
    Effect.gen(function* () {
      const payment = yield* store.find(session.paymentId)
      if (payment === undefined) return
      if (payment.paymentIntent !== null) yield* store.lock([payment.paymentIntent])
      if (!isOf(session, payment)) {
        yield* Effect.logError(`a payment event does not agree with the payment ${payment.id}`)
        return yield* doesNotAgree
      }
      yield* store.know(session)
      yield* Effect.flatMap(existing(payment.id), settle)
    })

  const record: PaymentsShape["record"] = (fact, eventId) =>
    transactions.commit(() =>
      Effect.gen(function* () {
        if (eventId !== null && !(yield* store.take(eventId))) return
        const intent = fact.paymentIntent === null ? [] : [fact.paymentIntent]
        yield* store.lock(fact._tag === "Session" ? [fact.paymentId, ...intent] : intent)
        if (fact._tag === "Session") return yield* recordSession(fact)
        yield* store.knowReversal(fact)
        const payment = yield* store.findIntent(fact.paymentIntent)
        if (payment !== undefined) yield* settle(payment)
      })
    )

  return Payments.of({
    create: (amountCents) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { provider } = yield* configured
          const actor = yield* CurrentUser
          const id = PaymentId.make(ids.uuid())
          yield* store.create({ id, accountId: actor.accountId, provider, amountCents })
          yield* audit.record({
            accountId: actor.accountId,
            action: "payment.create",
            target: { kind: "payment", id },
            before: null,
            after: { amount_cents: amountCents, provider }
          })
          return id
        })
      ),
    open: (id, publicUrl) =>
      Effect.gen(function* () {
        const payment = yield* existing(id)
        if (payment.checkoutUrl === null) {
          const { userId } = yield* CurrentUser
          const provider = yield* configured
          yield* store.opened(id, yield* pace.run(userId, provider.open(payment, publicUrl)))
        }
        const { checkoutUrl, sessionId } = yield* existing(id)
        if (checkoutUrl === null || sessionId === null) return yield* Effect.dieMessage("a page was opened just now")
        return { sessionId, url: checkoutUrl }
      }),
    read: (sessionId) =>
      Effect.gen(function* () {
        const { accountId, userId } = yield* CurrentUser
        const payment = yield* findSession(sessionId)
        if (payment === undefined || payment.accountId !== accountId) return yield* noSession
        if (isDecided(payment) || checkouts?.provider !== payment.provider) return payment
        const asked = Effect.gen(function* () {
          // it may have been decided while this one has waited
          if (isDecided(yield* existing(payment.id))) return
          const fact = yield* checkouts.fetch(sessionId)
          if (fact !== undefined) yield* record(fact, null)
        })
        // what the provider cannot tell now its webhook will
        const untold = () => Effect.void
        yield* Effect.catchTags(pace.run(userId, asked), {
          InvalidRequest: untold,
          PaymentProviderFailed: untold,
          RateLimited: untold
        })
        return yield* existing(payment.id)
      }),
    list: (max, before) => Effect.flatMap(CurrentUser, ({ accountId }) => store.list(accountId, max, before)),
    testSession: (sessionId) =>
      Effect.map(findSession(sessionId), (payment) => (payment?.provider === "test" ? payment : undefined)),
    record
  })
})

interface Move extends Reversal {
  readonly targetMicroUsd: number
}

/**
 * What the journal should have of each reversal and does not, credits first. Together they pay back no more than the payment:
 * what one of them has already keeps its place, so that each only rises until it is reinstated.
 */
const movesOf = (paidMicroUsd: number, reversals: ReadonlyArray<Reversal>): ReadonlyArray<Move> => {
  const wanted = ({ amountCents, isReinstated }: Reversal) => (isReinstated ? 0 : amountCents * microUsdPerCent)
  const kept = (reversal: Reversal) => Math.min(reversal.appliedMicroUsd, wanted(reversal))
  let left = paidMicroUsd - reversals.reduce((sum, reversal) => sum + kept(reversal), 0)
  return reversals
    .map((reversal) => {
      const more = Math.min(left, wanted(reversal) - kept(reversal))
      left -= more
      return { ...reversal, targetMicroUsd: kept(reversal) + more }
    })
    .filter(({ appliedMicroUsd, targetMicroUsd }) => targetMicroUsd !== appliedMicroUsd)
    .sort((a, b) => Number(a.targetMicroUsd > a.appliedMicroUsd) - Number(b.targetMicroUsd > b.appliedMicroUsd))
}

const isDecided = ({ isPaid, state }: Payment): boolean => isPaid || state === "failed" || state === "expired"

const isOf = (session: Extract<PaymentFact, { readonly _tag: "Session" }>, payment: Payment): boolean =>
  session.amountCents === payment.amountCents &&
  session.currency === "usd" &&
  (payment.sessionId === null || payment.sessionId === session.sessionId)

const noSession = new NotFound({ message: "Checkout session not found." })

const notConfigured = new PaymentsNotConfigured({
  message: "Payments are not configured: STRIPE_SECRET_KEY is not set, and the local test checkout is off."
})

const doesNotAgree = new InvalidRequest({
  code: "invalid_value",
  message: "The event does not agree with the payment that it names.",
  param: null
})
