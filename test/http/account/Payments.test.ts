import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { spendableIssues } from "../../../src/app/TestPayments.ts"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import type { BalanceOut, LedgerEntryOut } from "../../../src/wire/account/Billing.ts"
import type { CheckoutStatusOut, CreateCheckoutResponse, PaymentOut } from "../../../src/wire/account/Payments.ts"
import { settingsGiven } from "../../config/Load.ts"
import {
  type AccountNode,
  databaseKinds,
  newPerson,
  openDatabase,
  type Person,
  sendTo,
  startNode
} from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"
import { type StripeApi, start as startStripe } from "../../support/StripeApi.ts"
import { eventsOf, nowSeconds, sign, stripeKey, webhookOf, webhookSecret } from "../../support/StripeEvents.ts"

type Created = typeof CreateCheckoutResponse.Encoded
type Status = typeof CheckoutStatusOut.Encoded

const errorCode = async (response: Response) =>
  [response.status, (await jsonOf<{ readonly error: { readonly code: string } }>(response)).error.code] as const

const microUsdPerCent = 10_000

/** The same order in every run. */
const shuffled = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const all = [...items]
  let state = 42
  for (let at = all.length - 1; at > 0; at--) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    const other = state % (at + 1)
    const [a, b] = [all[at], all[other]]
    if (a !== undefined && b !== undefined) [all[at], all[other]] = [b, a]
  }
  return all
}

const balanceOf = async (person: Person) =>
  jsonOf<typeof BalanceOut.Encoded>(await person.send("GET", "/api/me/balance"))
const checkout = async (person: Person, cents: number, headers?: Readonly<Record<string, string>>) => {
  const response = await person.send("POST", "/api/me/checkout", { credit_amount_cents: cents }, headers)
  expect(response.status).toBe(201)
  return jsonOf<Created>(response)
}
const statusOf = async (person: Person, session: string) =>
  jsonOf<Status>(await person.send("GET", `/api/me/checkout/${session}`))

describe.each(databaseKinds)("payments by Stripe on %s", (kind) => {
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

  const { deliver, post } = webhookOf(() => nodes)
  const { disputed, eventOf, paid, refunded, sessionOf } = eventsOf(() => api)
  const expectSound = async () =>
    expect(await node.run(Effect.flatMap(Ledger, (ledger) => ledger.checkInvariants))).toEqual([])

  it("open one session for an Idempotency-Key, and are credited by the webhook, not by the buyer's return", async () => {
    const person = await newPerson(node)
    const key = { "idempotency-key": "one checkout" }
    const created = await checkout(person, 2_500, key)
    expect(created.checkout_url).toBe(`https://checkout.example/${created.session_id}`)
    expect(await checkout(person, 2_500, key)).toEqual(created)
    expect(api.authorizations).toEqual(new Set([`Bearer ${stripeKey}`]))
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "open", credited_amount_microusd: 0 })
    expect((await deliver(eventOf("checkout.session.completed", paid(created)))).status).toBe(200)
    expect(await statusOf(person, created.session_id)).toEqual({
      session_id: created.session_id,
      status: "credited",
      checkout_amount_cents: 2_500,
      credited_amount_microusd: 25_000_000,
      failure_category: null,
      failure_message: null
    })
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 25_000_000, available_microusd: 25_000_000 })
    const { items } = await jsonOf<{ readonly items: ReadonlyArray<typeof PaymentOut.Encoded> }>(
      await person.send("GET", "/api/me/payments")
    )
    expect(items).toMatchObject([{ id: created.payment_id, provider: "stripe", status: "credited" }])
  })

  it("were last updated when their status changed, not when it was read", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 1_000)
    const updatedAt = async () => {
      const { items } = await jsonOf<{ readonly items: ReadonlyArray<typeof PaymentOut.Encoded> }>(
        await person.send("GET", "/api/me/payments")
      )
      return items[0]?.updated_at
    }
    const opened = await updatedAt()
    for (let times = 0; times < 2; times++) await statusOf(person, created.session_id)
    expect(await updatedAt()).toBe(opened)
    await deliver(eventOf("checkout.session.completed", paid(created)))
    const credited = await updatedAt()
    expect(credited).not.toBe(opened)
    await deliver(eventOf("checkout.session.completed", paid(created)))
    expect(await updatedAt()).toBe(credited)
    await deliver(refunded(created, 400))
    const paidBack = await updatedAt()
    expect(paidBack).not.toBe(credited)
    await deliver(refunded(created, 400))
    expect(await updatedAt()).toBe(paidBack)
  })

  it("credit nothing by an event of Stripe's other mode", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 1_000)
    const event = eventOf("checkout.session.completed", paid(created))
    expect((await deliver({ ...event, livemode: true })).status).toBe(200)
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 0 })
    expect((await deliver({ ...event, livemode: false })).status).toBe(200)
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 10_000_000 })
  })

  it("are credited from the session itself where no webhook comes", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 1_000)
    Object.assign(sessionOf(created), paid(created))
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "credited" })
    expect((await deliver(eventOf("checkout.session.completed", paid(created)))).status).toBe(200)
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 10_000_000 })
    await expectSound()
  })

  it("ask the provider for a bounded number of those who read a session at once", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 1_000)
    const before = api.requests
    const read = await Promise.all(Array.from({ length: 150 }, () => statusOf(person, created.session_id)))
    expect(read).toEqual(read.map(() => expect.objectContaining({ status: "open" })))
    expect(api.requests - before).toBeGreaterThan(0)
    expect(api.requests - before).toBeLessThan(75)
  })

  it("take only 1000 to 100000 cents, and report a provider that fails; the same request can be sent again", async () => {
    const person = await newPerson(node)
    const key = { "idempotency-key": "a failing one" }
    for (const cents of [999, 100_001, 1_000.5]) {
      const refused = await person.send("POST", "/api/me/checkout", { credit_amount_cents: cents })
      expect((await errorCode(refused))[0]).toBe(400)
    }
    api.fails = true
    const failed = await person.send("POST", "/api/me/checkout", { credit_amount_cents: 1_000 }, key)
    api.fails = false
    expect(await errorCode(failed)).toEqual([502, "payment_provider_failed"])
    await checkout(person, 1_000, key)
    const { items } = await jsonOf<{ readonly items: ReadonlyArray<unknown> }>(
      await person.send("GET", "/api/me/payments")
    )
    expect(items.length).toBe(1)
  })

  it("follow refunds and disputes in any order, and never below what was paid", async () => {
    const person = await newPerson(node)
    const [first, second] = [await checkout(person, 5_000), await checkout(person, 1_000)]
    // the refund is known before the payment
    await deliver(refunded(first, 2_000))
    await deliver(eventOf("checkout.session.completed", paid(first)))
    expect(await statusOf(person, first.session_id)).toMatchObject({
      status: "refunded",
      credited_amount_microusd: 30_000_000
    })
    await deliver(disputed(first, "created", 5_000))
    await deliver(disputed(first, "funds_withdrawn", 5_000))
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 0 })
    await deliver(disputed(first, "funds_reinstated", 5_000))
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 30_000_000 })
    // and the end of a dispute before its beginning
    await deliver(eventOf("checkout.session.completed", paid(second)))
    await deliver(disputed(second, "funds_reinstated", 1_000))
    await deliver(disputed(second, "funds_withdrawn", 1_000))
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 40_000_000 })
    await expectSound()
  })

  it.each([0, 50_000])(
    "come to the same whatever the order of a refund that grows and a dispute, with %i cents of other credit",
    async (otherCents) => {
      const orders = [
        ["paid", "refund", "dispute", "withdrawn", "more", "won"],
        ["paid", "dispute", "refund", "withdrawn", "won", "more"],
        ["refund", "won", "paid", "more", "withdrawn", "dispute"],
        ["paid", "refund", "more", "dispute", "withdrawn", "won"]
      ] as const
      for (const order of orders) {
        const person = await newPerson(node)
        if (otherCents > 0) {
          const other = await checkout(person, otherCents)
          await deliver(eventOf("checkout.session.completed", paid(other)))
        }
        const created = await checkout(person, 5_000)
        const facts = {
          paid: eventOf("checkout.session.completed", paid(created)),
          refund: refunded(created, 2_000),
          more: refunded(created, 3_000),
          dispute: disputed(created, "created", 5_000),
          withdrawn: disputed(created, "funds_withdrawn", 5_000),
          won: disputed(created, "funds_reinstated", 5_000, "won")
        }
        for (const fact of order) expect((await deliver(facts[fact])).status).toBe(200)
        expect(await balanceOf(person)).toMatchObject({ credited_microusd: (otherCents + 2_000) * microUsdPerCent })
        expect(await statusOf(person, created.session_id)).toMatchObject({
          status: "refunded",
          credited_amount_microusd: 20_000_000
        })
      }
      await expectSound()
    }
  )

  it("keep what an inquiry takes nothing of, and get back what a dispute that is won has taken", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 5_000)
    await deliver(eventOf("checkout.session.completed", paid(created)))
    await deliver(disputed(created, "created", 5_000, "warning_needs_response"))
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "credited" })
    await deliver(disputed(created, "closed", 5_000, "warning_closed"))
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 50_000_000 })
    // the inquiry becomes a dispute
    await deliver(disputed(created, "funds_withdrawn", 5_000))
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "disputed" })
    await deliver(disputed(created, "closed", 5_000, "won"))
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 50_000_000 })
    // a dispute that is lost stays taken
    const lost = await checkout(person, 1_000)
    await deliver(eventOf("checkout.session.completed", paid(lost)))
    await deliver(disputed(lost, "created", 1_000))
    await deliver(disputed(lost, "closed", 1_000, "lost"))
    expect(await statusOf(person, lost.session_id)).toMatchObject({ status: "disputed", credited_amount_microusd: 0 })
    await expectSound()
  })

  it("stay taken by a dispute that is lost, of which Stripe reinstates what was refunded before", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 5_000)
    await deliver(eventOf("checkout.session.completed", paid(created)))
    await deliver(refunded(created, 2_000))
    await deliver(disputed(created, "created", 5_000))
    await deliver(disputed(created, "funds_reinstated", 5_000, "lost"))
    await deliver(disputed(created, "closed", 5_000, "lost"))
    expect(await statusOf(person, created.session_id)).toMatchObject({ credited_amount_microusd: 0 })
    await expectSound()
  })

  it("are not changed by signed events that cannot be kept, which are not asked for again", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 1_000)
    const completed = (more: object) => eventOf("checkout.session.completed", paid(created, more))
    const unusable = [
      { ...completed({}), id: "evt_a\0b" },
      { ...completed({}), id: `evt_${"x".repeat(5_000)}` },
      completed({ id: "cs_a\0b" }),
      completed({ payment_intent: "pi_a\0b" }),
      completed({ payment_intent: { id: "pi_a\ud83db" } }),
      ...[refunded(created, 1_000), disputed(created, "created", 1_000)].flatMap((event) =>
        ["id", "payment_intent"].map((field) => ({
          ...event,
          data: { object: { ...event.data.object, [field]: "a\0b" } }
        }))
      )
    ]
    for (const event of unusable) expect((await deliver(event)).status).toBe(200)
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "open" })
    await deliver(completed({}))
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "credited" })
    await expectSound()
  })

  it("are paid back as a whole by a refund of more than the database can hold", async () => {
    const person = await newPerson(node)
    const [first, second] = [await checkout(person, 1_000), await checkout(person, 1_000)]
    for (const created of [first, second]) await deliver(eventOf("checkout.session.completed", paid(created)))
    expect((await deliver(refunded(first, 2 ** 31))).status).toBe(200)
    expect((await deliver(disputed(second, "created", Number.MAX_SAFE_INTEGER))).status).toBe(200)
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 0 })
    await expectSound()
  })

  it("stay as they are where the session itself cannot be read", async () => {
    const person = await newPerson(node)
    const created = await checkout(person, 1_000)
    Object.assign(sessionOf(created), { payment_intent: "pi_a\0b", payment_status: "paid" })
    expect(await statusOf(person, created.session_id)).toMatchObject({ status: "open" })
  })

  it("credit exactly the paid sessions after 1,000 deliveries", async () => {
    const [person, cents] = [await newPerson(node), 1_000]
    const sessions: Array<Created> = []
    for (let at = 0; at < 40; at++) sessions.push(await checkout(person, cents))
    const good: Array<object> = []
    let expected = 0
    for (const [at, created] of sessions.entries()) {
      const kindOf = at % 8
      if (kindOf === 7) {
        good.push(eventOf("checkout.session.expired", { ...sessionOf(created), status: "expired" }))
        continue
      }
      if (kindOf === 6) {
        const failed = { ...paid(created), payment_status: "unpaid" }
        good.push(eventOf("checkout.session.completed", failed))
        good.push(eventOf("checkout.session.async_payment_failed", failed))
        continue
      }
      expected += cents
      good.push(eventOf("checkout.session.completed", paid(created, { payment_status: "unpaid" })))
      good.push(eventOf("checkout.session.async_payment_succeeded", paid(created)))
      if (kindOf === 5) {
        good.push(refunded(created, 300), refunded(created, 400))
        expected -= 400
      }
      if (kindOf === 4) {
        good.push(disputed(created, "created", cents), disputed(created, "funds_withdrawn", cents))
        expected -= cents
      }
      if (kindOf === 3) {
        good.push(disputed(created, "funds_withdrawn", cents), disputed(created, "funds_reinstated", cents))
      }
    }
    const unpaid = await checkout(person, cents)
    const forge = (object: object) => JSON.stringify(eventOf("checkout.session.completed", object))
    const bad = [
      () => forge(paid(unpaid)),
      () => forge(paid(unpaid)),
      () => forge(paid(unpaid)),
      () => forge(paid(unpaid, { amount_total: 100_000 })),
      () => forge(paid(unpaid, { currency: "jpy" })),
      () => forge(paid(unpaid, { id: "cs_of_somebody_else" }))
    ] as const
    const signatures = [
      (payload: string) => sign(payload, "whsec_of_somebody_else"),
      (payload: string) => sign(payload, webhookSecret, nowSeconds() - 301),
      (payload: string) => sign(payload, webhookSecret, nowSeconds() + 310),
      sign,
      sign,
      sign
    ] as const
    const refusals = Array.from({ length: 200 }, (_, at) => async () => {
      const payload = bad[at % bad.length]?.() ?? ""
      expect((await post(payload, signatures[at % bad.length]?.(payload) ?? "", at)).status).toBe(400)
    })
    const deliveries = Array.from({ length: 800 }, (_, at) => async () => {
      const answer = await deliver(good[at % good.length] ?? {}, at)
      // a busy database is reported, so that it is delivered again
      if (answer.status === 503) expect((await deliver(good[at % good.length] ?? {}, at + 1)).status).toBe(200)
      else expect(answer.status).toBe(200)
    })
    const all = shuffled([...refusals, ...deliveries])
    expect(all.length).toBe(1_000)
    for (let at = 0; at < all.length; at += 20) await Promise.all(all.slice(at, at + 20).map((run) => run()))

    expect(await balanceOf(person)).toMatchObject({ credited_microusd: expected * microUsdPerCent, spent_microusd: 0 })
    const statuses = await Promise.all(
      sessions.map(async ({ session_id }) => (await statusOf(person, session_id)).status)
    )
    const byKind = ["credited", "credited", "credited", "credited", "disputed", "refunded", "failed", "expired"]
    expect(statuses).toEqual(sessions.map((_, at) => byKind[at % 8]))
    expect(await statusOf(person, unpaid.session_id)).toMatchObject({ status: "open", credited_amount_microusd: 0 })
    const credits = new Set<string>()
    for (let cursor = ""; ; ) {
      const page = await jsonOf<{
        readonly items: ReadonlyArray<typeof LedgerEntryOut.Encoded>
        readonly next_cursor: string | null
      }>(await person.send("GET", `/api/me/ledger?limit=100${cursor}`))
      for (const { id, source } of page.items) if (source?.startsWith("checkout:")) credits.add(`${id} ${source}`)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(credits.size).toBe(sessions.filter((_, at) => at % 8 < 6).length)
    await expectSound()
  }, 120_000)
})

describe("the local test checkout", () => {
  let node: AccountNode
  let person: Person
  beforeAll(async () => {
    node = await startNode({ DATA_DIR: ":memory:" })
    person = await newPerson(node)
  }, 60_000)
  afterAll(() => node.stop())

  const decide = (url: string, action: string) =>
    fetch(`${url}&action=${action}`, { method: "POST", redirect: "manual" })
  /** A person who has paid with test money. */
  const payer = async () => {
    const one = await newPerson(node)
    await decide((await checkout(one, 1_000)).checkout_url, "pay")
    return one
  }

  it.each([
    ["pay", "credited", 10_000_000],
    ["decline", "failed", 0],
    ["abandon", "expired", 0]
  ] as const)("%s: the checkout is %s once, whatever is pressed later", async (action, status, credited) => {
    const created = await checkout(person, 1_000)
    const page = await (await fetch(created.checkout_url)).text()
    for (const text of ["Test money", "$10.00", "Pay", "Decline", "Abandon"]) expect(page).toContain(text)
    const before = await balanceOf(person)
    const decided = await Promise.all([decide(created.checkout_url, action), decide(created.checkout_url, action)])
    expect(decided.map((answer) => answer.status)).toEqual([303, 303])
    const back = `${node.url}/dashboard/checkout/${created.session_id}`
    for (const { headers } of decided)
      expect(new URL(headers.get("location") ?? "", created.checkout_url).href).toBe(back)
    await decide(created.checkout_url, "pay")
    expect(await statusOf(person, created.session_id)).toMatchObject({ status, credited_amount_microusd: credited })
    expect((await balanceOf(person)).credited_microusd).toBe(before.credited_microusd + credited)
    const shown = await (await fetch(created.checkout_url)).text()
    expect(shown).toContain(`State of this checkout: ${status}.`)
    const link = /href="([^"]+)"/.exec(shown)?.[1] ?? ""
    expect(new URL(link, created.checkout_url).href).toBe(back)
  })

  it("is warned about where balances that it has credited are spent at providers that are paid", async () => {
    const { credited_microusd: earlier } = await balanceOf(await payer())
    expect(earlier).toBe(10_000_000)
    const warned = async (env: Readonly<Record<string, string>>) => {
      const settings = await Effect.runPromise(settingsGiven({ env }))
      return (await node.run(spendableIssues(settings))).map(({ message, path }) => `${path} ${message}`)
    }
    const credited = /^LOCAL_CHECKOUT has credited (\d+) micro-USD in test payments, which calls/
    const real = await warned({ OPENAI_API_KEY: "sk-of-the-operator" })
    expect(real).toHaveLength(1)
    // of this person and of all before
    expect(Number(credited.exec(real[0] ?? "")?.[1])).toBeGreaterThanOrEqual(earlier)
    expect(await warned({ OPENAI_API_KEY: "sk-of-the-operator", LOCAL_CHECKOUT: "on" })).toEqual([
      "LOCAL_CHECKOUT is on: each user can add balance without paying",
      ...real
    ])
    expect(await warned({ LOCAL_CHECKOUT: "on" })).toEqual([])
    const testMode = "STRIPE_SECRET_KEY is of Stripe's test mode: each user can add balance without paying, which calls"
    const stripe = { OPENAI_API_KEY: "sk-of-the-operator", STRIPE_WEBHOOK_SECRET: "whsec_of_this_test_only" }
    expect(await warned({ ...stripe, STRIPE_SECRET_KEY: "rk_test_x" })).toEqual([
      expect.stringContaining(testMode),
      ...real
    ])
    expect(await warned({ ...stripe, STRIPE_SECRET_KEY: "sk_live_x" })).toEqual(real)
  })

  it("has no page for an unknown session, no other action, and no webhook", async () => {
    const created = await checkout(person, 1_000)
    expect((await decide(created.checkout_url, "steal")).status).toBe(400)
    expect((await fetch(`${node.url}/checkout/test?session=x`)).status).toBe(404)
    expect((await fetch(`${node.url}/checkout/test?session=x`, { method: "PUT" })).status).toBe(400)
    expect(await errorCode(await sendTo(node.url, {})("POST", "/webhooks/stripe", {}))).toEqual([404, "unknown_path"])
  })
})

it("without Stripe no payment is taken while providers cost money, and a malformed secret refuses to start", async () => {
  const node = await startNode({ DATA_DIR: ":memory:", OPENAI_API_KEY: "sk-of-the-operator" })
  const person = await newPerson(node)
  const refused = await person.send("POST", "/api/me/checkout", { credit_amount_cents: 1_000 })
  expect(await errorCode(refused)).toEqual([409, "payments_not_configured"])
  await node.stop()
  const start = (env: Readonly<Record<string, string>>) => startNode({ DATA_DIR: ":memory:", ...env })
  await expect(start({ STRIPE_SECRET_KEY: "sk_x", STRIPE_WEBHOOK_SECRET: " " })).rejects.toThrow(
    "STRIPE_WEBHOOK_SECRET"
  )
  await expect(start({ STRIPE_SECRET_KEY: "two words" })).rejects.toThrow("STRIPE_SECRET_KEY")
  await expect(start({ STRIPE_WEBHOOK_SECRET: webhookSecret })).rejects.toThrow("STRIPE_SECRET_KEY")
}, 60_000)
