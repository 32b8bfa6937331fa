import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import type { BalanceOut } from "../../../src/wire/account/Billing.ts"
import type { CheckoutStatusOut, CreateCheckoutResponse } from "../../../src/wire/account/Payments.ts"
import {
  type AccountNode,
  databaseKinds,
  newPerson,
  openDatabase,
  type Person,
  startNode
} from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"
import { type StripeApi, start as startStripe } from "../../support/StripeApi.ts"
import { eventsOf, stripeKey, webhookOf, webhookSecret } from "../../support/StripeEvents.ts"

type Created = typeof CreateCheckoutResponse.Encoded
type Event = ReturnType<ReturnType<typeof eventsOf>["eventOf"]>

const paidCents = 5_000

const balanceOf = async (person: Person) =>
  jsonOf<typeof BalanceOut.Encoded>(await person.send("GET", "/api/me/balance"))
const checkout = async (person: Person) => {
  const response = await person.send("POST", "/api/me/checkout", { credit_amount_cents: paidCents })
  expect(response.status).toBe(201)
  return jsonOf<Created>(response)
}
const statusOf = async (person: Person, { session_id }: Created) => {
  const { credited_amount_microusd, status } = await jsonOf<typeof CheckoutStatusOut.Encoded>(
    await person.send("GET", `/api/me/checkout/${session_id}`)
  )
  return [status, credited_amount_microusd / 10_000] as const
}

/** What happens to the refunds of a charge, in Stripe's order: one begins, or one that has begun fails. */
const Step = fc.oneof(
  // few amounts, so that the same total comes again
  fc.record({ cents: fc.constantFrom(500, 1_000, 2_000), isTold: fc.boolean() }),
  fc.record({
    failing: fc.nat({ max: 2 }),
    status: fc.constantFrom("failed", "canceled"),
    toldBy: fc.subarray(["refund.failed", "refund.updated", "charge.refund.updated"] as const, { minLength: 1 })
  })
)
type Step = typeof Step extends fc.Arbitrary<infer A> ? A : never

const sumOf = (refunds: ReadonlyArray<{ readonly cents: number }>) => refunds.reduce((sum, { cents }) => sum + cents, 0)

describe.each(databaseKinds)("refunds that fail on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let api: StripeApi
  let nodes: ReadonlyArray<AccountNode>
  let node: AccountNode
  beforeAll(async () => {
    database = await openDatabase(kind)
    api = await startStripe()
    const env = { ...database.env, STRIPE_SECRET_KEY: stripeKey, STRIPE_WEBHOOK_SECRET: webhookSecret }
    node = await startNode(env, api.url)
    // the embedded database is open in one process only
    nodes = kind === "embedded" ? [node] : [node, await startNode(env, api.url)]
  }, 120_000)
  afterAll(async () => {
    for (const one of nodes) await one.stop()
    await api.stop()
    await database.close()
  })

  const webhook = webhookOf(() => nodes)
  const { disputed, eventOf, paid, refund, refunded } = eventsOf(() => api)
  const deliver = async (event: Event, at = 0) => {
    const { status } = await webhook.deliver(event, at)
    // a busy database is reported, so that it is delivered again
    expect(status === 503 ? (await webhook.deliver(event, at)).status : status).toBe(200)
  }
  const completed = (created: Created) => eventOf("checkout.session.completed", paid(created))
  const expectSound = async () =>
    expect(await node.run(Effect.flatMap(Ledger, (ledger) => ledger.checkInvariants))).toEqual([])

  it.each(["refund.failed", "refund.updated", "charge.refund.updated"])(
    "give the credit back once by %s, whatever comes first",
    async (type) => {
      const person = await newPerson(node)
      for (const status of ["failed", "canceled"]) {
        for (const order of [
          ["paid", "refund", "failure"],
          ["paid", "failure", "refund"],
          ["failure", "refund", "paid"]
        ] as const) {
          const created = await checkout(person)
          const events = {
            paid: completed(created),
            refund: refunded(created, 2_000),
            failure: refund(type, created, "a", 2_000, status)
          }
          for (const name of order) await deliver(events[name])
          for (const name of order) await deliver(events[name])
          await deliver(refund(type, created, "a", 2_000, status))
          expect(await statusOf(person, created)).toEqual(["credited", paidCents])
        }
      }
      expect(await balanceOf(person)).toMatchObject({ credited_microusd: 6 * paidCents * 10_000 })
      await expectSound()
    }
  )

  it("keep a second refund taken after the first has failed, whether its total has the first or not", async () => {
    for (const total of [2_000, 4_000]) {
      const person = await newPerson(node)
      const created = await checkout(person)
      await deliver(completed(created))
      await deliver(refunded(created, 2_000))
      await deliver(refund("refund.failed", created, "a", 2_000, "failed"))
      await deliver(refund("refund.created", created, "b", 2_000, "pending"))
      await deliver(refunded(created, total))
      expect(await statusOf(person, created)).toEqual(["refunded", 3_000])
      await deliver(refund("refund.updated", created, "b", 2_000, "succeeded"))
      expect(await statusOf(person, created)).toEqual(["refunded", 3_000])
      // and taken as before by a third one
      await deliver(refund("refund.failed", created, "b", 2_000, "failed"))
      await deliver(refund("refund.created", created, "c", 2_000, "succeeded"))
      expect(await statusOf(person, created)).toEqual(["refunded", 3_000])
    }
    await expectSound()
  })

  it("leave to a dispute what they give back", async () => {
    const person = await newPerson(node)
    const created = await checkout(person)
    await deliver(completed(created))
    await deliver(refunded(created, paidCents))
    await deliver(disputed(created, "created", paidCents))
    expect(await statusOf(person, created)).toEqual(["refunded", 0])
    await deliver(refund("refund.failed", created, "a", paidCents, "failed"))
    expect(await statusOf(person, created)).toEqual(["disputed", 0])
    await deliver(disputed(created, "closed", paidCents, "won"))
    expect(await statusOf(person, created)).toEqual(["credited", paidCents])
    await expectSound()
  })

  it("are ignored where they cannot be kept, are of another currency or of no payment", async () => {
    const person = await newPerson(node)
    const created = await checkout(person)
    await deliver(completed(created))
    const { data, ...event } = refund("refund.created", created, "a", 2_000, "succeeded")
    for (const [at, more] of [
      { amount: -1 },
      { amount: 0.5 },
      { amount: 0 },
      { currency: "jpy" },
      { charge: null },
      { payment_intent: null },
      { charge: "ch_a\0b" },
      { id: "re_a\0b" }
    ].entries()) {
      await deliver({ ...event, id: `${event.id} ${at}`, data: { object: { ...data.object, ...more } } })
    }
    expect(await statusOf(person, created)).toEqual(["credited", paidCents])
    await deliver(refund("refund.created", created, "b", Number.MAX_SAFE_INTEGER, "succeeded"))
    expect(await statusOf(person, created)).toEqual(["refunded", 0])
    await expectSound()
  })

  /** Stripe's refunds with their events; `isFailedCounted`: whether totals of the charge have refunds that failed before. */
  const happening = (created: Created, steps: ReadonlyArray<Step>, isFailedCounted: boolean) => {
    const refunds: Array<{ readonly cents: number; failures: ReadonlyArray<Event> }> = []
    const totals: Array<Event> = []
    const begun: Array<Event> = []
    const unfailed = () => refunds.filter(({ failures }) => failures.length === 0)
    for (const step of steps) {
      if ("cents" in step) {
        // Stripe refuses more than is left of the payment
        const cents = Math.min(step.cents, paidCents - sumOf(unfailed()))
        if (cents === 0) continue
        if (step.isTold) begun.push(refund("refund.created", created, `${refunds.length}`, cents, "pending"))
        refunds.push({ cents, failures: [] })
        totals.push(refunded(created, sumOf(isFailedCounted ? refunds : unfailed())))
      } else {
        const failing = refunds[step.failing]
        if (failing === undefined || failing.failures.length > 0) continue
        failing.failures = step.toldBy.map((type) =>
          refund(type, created, `${step.failing}`, failing.cents, step.status)
        )
      }
    }
    return { refunds, totals, begun, isEachTold: begun.length === refunds.length, refundedCents: sumOf(unfailed()) }
  }

  it("take what has reached the buyer, whatever comes in which order and how often", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          steps: fc.array(Step, { minLength: 2, maxLength: 8 }),
          dispute: fc.constantFrom("none", "open", "won"),
          isFailedCounted: fc.boolean(),
          isConcurrent: fc.boolean(),
          order: fc.array(fc.nat(), { minLength: 80, maxLength: 80 })
        }),
        async ({ dispute, isConcurrent, isFailedCounted, order, steps }) => {
          const person = await newPerson(node)
          const created = await checkout(person)
          const { begun, isEachTold, refundedCents, refunds, totals } = happening(created, steps, isFailedCounted)
          const disputes = [
            ...(dispute === "none" ? [] : [disputed(created, "created", paidCents)]),
            ...(dispute === "won" ? [disputed(created, "closed", paidCents, "won")] : [])
          ]
          const events = [
            completed(created),
            ...totals,
            ...begun,
            ...refunds.flatMap(({ failures }) => failures),
            ...disputes
          ]
          const twice = [...events, ...events]
            .map((event, at) => ({ event, key: order[at] ?? 0 }))
            .toSorted((a, b) => a.key - b.key)
            .map(({ event }) => event)
          const takenCents = async () => paidCents - (await statusOf(person, created))[1]

          if (isConcurrent) {
            for (let at = 0; at < twice.length; at += 3) {
              await Promise.all(twice.slice(at, at + 3).map((event, index) => deliver(event, index)))
            }
          } else {
            const told = new Set<Event>()
            for (const event of twice) {
              await deliver(event)
              told.add(event)
              if (!told.has(events[0] as Event)) continue
              const mayHaveSucceeded = refunds.filter(({ failures }) => !failures.some((failure) => told.has(failure)))
              const disputedCents = disputes.some((one) => told.has(one)) ? paidCents : 0
              expect(await takenCents()).toBeLessThanOrEqual(sumOf(mayHaveSucceeded) + disputedCents)
            }
          }
          const rightCents = dispute === "open" ? paidCents : refundedCents
          if (isEachTold || isFailedCounted) expect(await takenCents()).toBe(rightCents)
          else expect(await takenCents()).toBeLessThanOrEqual(rightCents)
          expect((await balanceOf(person)).credited_microusd).toBe((paidCents - (await takenCents())) * 10_000)
        }
      ),
      // each run takes a tenth of a second and more: a failure is not made smaller
      { numRuns: 30, endOnFailure: true }
    )
    await expectSound()
  }, 120_000)
})
