import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { NotFound, type PaymentProviderFailed, PaymentsNotConfigured } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import type { RateLimited, StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { PaymentId } from "../../domain/Ids.ts"
import { isStorable } from "../../domain/StorableText.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { makePace } from "../pace/Pace.ts"
import { Checkouts, type CheckoutsShape, type Opened } from "./Checkouts.ts"
import { PaymentFacts } from "./PaymentFacts.ts"
import { type Payment, PaymentStore } from "./PaymentStore.ts"

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
}

/** What people pay for credit. */
export class Payments extends Context.Tag("gateway/account/Payments")<Payments, PaymentsShape>() {
  static readonly layer: Layer.Layer<
    Payments,
    never,
    AccountTransactions | Audit | Checkouts | IdGenerator | PaymentFacts | PaymentStore
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* PaymentStore
  const facts = yield* PaymentFacts
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

  const refresh = (id: PaymentId, sessionId: string, provider: CheckoutsShape) =>
    Effect.gen(function* () {
      // it may have been decided while this one has waited
      if (isDecided(yield* store.existing(id))) return
      const fact = yield* provider.fetch(sessionId)
      if (fact !== undefined) yield* facts.record(fact, null)
    })

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
        const payment = yield* store.existing(id)
        if (payment.checkoutUrl === null) {
          const { userId } = yield* CurrentUser
          const provider = yield* configured
          yield* store.opened(id, yield* pace.run(userId, provider.open(payment, publicUrl)))
        }
        const { checkoutUrl, sessionId } = yield* store.existing(id)
        if (checkoutUrl === null || sessionId === null) return yield* Effect.dieMessage("a page was opened just now")
        return { sessionId, url: checkoutUrl }
      }),
    read: (sessionId) =>
      Effect.gen(function* () {
        const { accountId, userId } = yield* CurrentUser
        const payment = yield* findSession(sessionId)
        if (payment === undefined || payment.accountId !== accountId) return yield* noSession
        if (isDecided(payment) || checkouts?.provider !== payment.provider) return payment
        // what the provider cannot tell now its webhook will
        const untold = () => Effect.void
        yield* Effect.catchTags(pace.run(userId, refresh(payment.id, sessionId, checkouts)), {
          InvalidRequest: untold,
          PaymentProviderFailed: untold,
          RateLimited: untold
        })
        return yield* store.existing(payment.id)
      }),
    list: (max, before) => Effect.flatMap(CurrentUser, ({ accountId }) => store.list(accountId, max, before)),
    testSession: (sessionId) =>
      Effect.map(findSession(sessionId), (payment) => (payment?.provider === "test" ? payment : undefined))
  })
})

const isDecided = ({ isPaid, state }: Payment): boolean => isPaid || state === "failed" || state === "expired"

const noSession = new NotFound({ message: "Checkout session not found." })

const notConfigured = new PaymentsNotConfigured({
  message: "Payments are not configured: STRIPE_SECRET_KEY is not set, and the local test checkout is off."
})
