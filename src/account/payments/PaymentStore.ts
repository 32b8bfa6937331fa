import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, PaymentId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import type { Opened } from "./Checkouts.ts"
import type { FactOf } from "./PaymentFact.ts"

const Payment = Schema.Struct({
  id: PaymentId,
  accountId: AccountId,
  provider: Schema.Literal("stripe", "test"),
  amountCents: Schema.Int,
  sessionId: Schema.NullOr(Schema.String),
  checkoutUrl: Schema.NullOr(Schema.String),
  paymentIntent: Schema.NullOr(Schema.String),
  state: Schema.Literal("open", "processing", "expired", "failed"),
  isPaid: Schema.Boolean,
  creditedMicroUsd: Int8,
  refundedMicroUsd: Int8,
  disputedMicroUsd: Int8,
  failureCategory: Schema.NullOr(Schema.String),
  failureMessage: Schema.NullOr(Schema.String),
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})
/** A payment with what the journal has of its refunds and disputes. */
export type Payment = typeof Payment.Type

const Reversal = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literal("refund", "dispute"),
  amountCents: Schema.Int,
  /** Of its refunds as they are known one by one: those that have failed, and all others. */
  failedCents: Int8,
  refundedCents: Int8,
  isReinstated: Schema.Boolean,
  appliedMicroUsd: Int8
})
export type Reversal = typeof Reversal.Type

export interface PaymentStoreShape {
  readonly create: (
    payment: Pick<Payment, "id" | "accountId" | "provider" | "amountCents">
  ) => Effect.Effect<void, StoreUnavailable>
  readonly find: (id: PaymentId) => Effect.Effect<Payment | undefined, StoreUnavailable>
  /** One that was found before: no payment is ever deleted. */
  readonly existing: (id: PaymentId) => Effect.Effect<Payment, StoreUnavailable>
  readonly findSession: (sessionId: string) => Effect.Effect<Payment | undefined, StoreUnavailable>
  readonly findIntent: (paymentIntent: string) => Effect.Effect<Payment | undefined, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly list: (
    account: AccountId,
    max: number,
    before: PaymentId | undefined
  ) => Effect.Effect<ReadonlyArray<Payment>, StoreUnavailable>
  readonly opened: (id: PaymentId, opened: Opened) => Effect.Effect<void, StoreUnavailable>
  /** False for an event that was taken before; waits for one that is being taken. */
  readonly take: (eventId: string) => Effect.Effect<boolean, StoreUnavailable>
  /** Until the end of the transaction nobody else moves money of these. */
  readonly lock: (names: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
  /** Adds what a session says to what is known; a payment that is paid stays paid. */
  readonly know: (session: FactOf<"Session">) => Effect.Effect<void, StoreUnavailable>
  readonly knowReversal: (reversal: FactOf<"Reversal">) => Effect.Effect<void, StoreUnavailable>
  readonly knowRefund: (refund: FactOf<"Refund">) => Effect.Effect<void, StoreUnavailable>
  readonly reversals: (paymentIntent: string) => Effect.Effect<ReadonlyArray<Reversal>, StoreUnavailable>
  readonly credited: (id: PaymentId, amountMicroUsd: number) => Effect.Effect<void, StoreUnavailable>
  /** Of all accounts, with the test page, whether it is spent or not. */
  readonly testCreditedMicroUsd: Effect.Effect<number, StoreUnavailable>
  readonly applied: (reversalId: string, amountMicroUsd: number) => Effect.Effect<void, StoreUnavailable>
}

/** Payments and what is known of them. */
export class PaymentStore extends Context.Tag("gateway/account/PaymentStore")<PaymentStore, PaymentStoreShape>() {
  static readonly layer: Layer.Layer<PaymentStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const appliedOf = (kind: Reversal["kind"]) =>
    `(select coalesce(sum(applied_micro_usd), 0)::text from payment_reversal r
      where r.payment_intent = p.payment_intent and r.kind = '${kind}')`
  const columns = sql.literal(`p.id, p.account_id as "accountId", p.provider, p.amount_cents as "amountCents",
    p.session_id as "sessionId", p.checkout_url as "checkoutUrl", p.payment_intent as "paymentIntent", p.state,
    p.is_paid as "isPaid", p.credited_micro_usd as "creditedMicroUsd", ${appliedOf("refund")} as "refundedMicroUsd",
    ${appliedOf("dispute")} as "disputedMicroUsd", p.failure_category as "failureCategory",
    p.failure_message as "failureMessage", p.created_at as "createdAt", p.updated_at as "updatedAt"`)

  const find = SqlSchema.findOne({
    Request: PaymentId,
    Result: Payment,
    execute: (id) => sql`select ${columns} from payment p where p.id = ${id}`
  })
  const findSession = SqlSchema.findOne({
    Request: Schema.String,
    Result: Payment,
    execute: (sessionId) => sql`select ${columns} from payment p where p.session_id = ${sessionId}`
  })
  const findIntent = SqlSchema.findOne({
    Request: Schema.String,
    Result: Payment,
    execute: (paymentIntent) => sql`select ${columns} from payment p where p.payment_intent = ${paymentIntent}`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({ account: AccountId, max: Schema.Number, before: Schema.UndefinedOr(PaymentId) }),
    Result: Payment,
    execute: ({ account, before, max }) => sql`
      select ${columns} from payment p
      where p.account_id = ${account} and ${before === undefined ? sql`true` : sql`p.id < ${before}`}
      order by p.id desc limit ${max}`
  })
  const testCredited = SqlSchema.single({
    Request: Schema.Void,
    Result: Schema.Struct({ sum: Int8 }),
    execute: () => sql`
      select coalesce(sum(credited_micro_usd), 0)::text as "sum" from payment where provider = 'test'`
  })
  const reversals = SqlSchema.findAll({
    Request: Schema.String,
    Result: Reversal,
    execute: (paymentIntent) => sql`
      select r.id, r.kind, r.amount_cents as "amountCents", r.is_reinstated as "isReinstated",
        r.applied_micro_usd as "appliedMicroUsd",
        coalesce(sum(f.amount_cents) filter (where f.is_failed), 0)::text as "failedCents",
        coalesce(sum(f.amount_cents) filter (where not f.is_failed), 0)::text as "refundedCents"
      from payment_reversal r left join payment_refund f on f.reversal_id = r.id
      where r.payment_intent = ${paymentIntent} group by r.id order by r.id`
  })
  /** To the right only: a late event about an earlier state changes nothing. */
  const states = ["open", "processing", "expired", "failed"]
  const know = ({ failure, paymentId, paymentIntent, sessionId, state }: FactOf<"Session">) => {
    const isPaid = state === "paid"
    const next = isPaid ? "open" : state
    const isNext = sql`array_position(${states}::text[], ${next}::text) > array_position(${states}::text[], state)`
    return sql`
      update payment set session_id = coalesce(session_id, ${sessionId}),
        payment_intent = coalesce(payment_intent, ${paymentIntent}), is_paid = is_paid or ${isPaid},
        state = case when ${isNext} then ${next} else state end,
        failure_category = coalesce(failure_category, ${failure?.category ?? null}),
        failure_message = coalesce(failure_message, ${failure?.message ?? null}),
        updated_at = case when ${isNext} or (${isPaid} and not is_paid) then now() else updated_at end
      where id = ${paymentId}`
  }

  return PaymentStore.of({
    create: ({ accountId, amountCents, id, provider }) =>
      fromSql(
        Effect.asVoid(sql`
          insert into payment (id, account_id, provider, amount_cents)
          values (${id}, ${accountId}, ${provider}, ${amountCents})`)
      ),
    find: (id) => fromSql(Effect.map(find(id), Option.getOrUndefined)),
    existing: (id) =>
      Effect.flatMap(
        fromSql(find(id)),
        Option.match({ onNone: () => Effect.dieMessage("a payment is never deleted"), onSome: Effect.succeed })
      ),
    findSession: (sessionId) => fromSql(Effect.map(findSession(sessionId), Option.getOrUndefined)),
    findIntent: (paymentIntent) => fromSql(Effect.map(findIntent(paymentIntent), Option.getOrUndefined)),
    list: (account, max, before) => fromSql(list({ account, max, before })),
    opened: (id, { sessionId, url }) =>
      fromSql(
        Effect.asVoid(sql`
          update payment set session_id = coalesce(session_id, ${sessionId}), checkout_url = ${url}, updated_at = now()
          where id = ${id} and checkout_url is null`)
      ),
    take: (eventId) =>
      fromSql(
        Effect.map(
          sql`insert into payment_event (id) values (${eventId}) on conflict (id) do nothing returning id`,
          (rows) => rows.length === 1
        )
      ),
    lock: (names) =>
      fromSql(
        Effect.forEach(
          [...names].sort(),
          (name) => sql`select pg_advisory_xact_lock(hashtextextended(${`payment ${name}`}, 0))`,
          { discard: true }
        )
      ),
    know: (session) => fromSql(Effect.asVoid(know(session))),
    knowReversal: ({ amountCents, id, isReinstated, kind, paymentIntent }) =>
      fromSql(
        Effect.asVoid(sql`
          insert into payment_reversal as r (id, kind, payment_intent, amount_cents, is_reinstated)
          values (${id}, ${kind}, ${paymentIntent}, ${amountCents}, ${isReinstated})
          on conflict (id) do update set amount_cents = greatest(r.amount_cents, excluded.amount_cents),
            is_reinstated = r.is_reinstated or excluded.is_reinstated`)
      ),
    knowRefund: ({ amountCents, id, isFailed, paymentIntent, reversalId }) =>
      fromSql(
        Effect.zipRight(
          sql`
            insert into payment_reversal (id, kind, payment_intent, amount_cents)
            values (${reversalId}, 'refund', ${paymentIntent}, 0) on conflict (id) do nothing`,
          Effect.asVoid(sql`
            insert into payment_refund as f (id, reversal_id, amount_cents, is_failed)
            values (${id}, ${reversalId}, ${amountCents}, ${isFailed})
            on conflict (id) do update set is_failed = f.is_failed or excluded.is_failed`)
        )
      ),
    reversals: (paymentIntent) => fromSql(reversals(paymentIntent)),
    testCreditedMicroUsd: testCredited().pipe(
      Effect.catchIf(Cause.isNoSuchElementException, () => Effect.dieMessage("an aggregate has one row")),
      fromSql,
      Effect.map(({ sum }) => sum)
    ),
    credited: (id, amountMicroUsd) =>
      fromSql(Effect.asVoid(sql`update payment set credited_micro_usd = ${amountMicroUsd} where id = ${id}`)),
    applied: (reversalId, amountMicroUsd) =>
      fromSql(
        Effect.asVoid(sql`
          with moved as (
            update payment_reversal set applied_micro_usd = ${amountMicroUsd}
            where id = ${reversalId} and applied_micro_usd <> ${amountMicroUsd} returning payment_intent)
          update payment p set updated_at = now() from moved where p.payment_intent = moved.payment_intent`)
      )
  })
})
