// Promise: A payment is credited once, at whatever step of its webhook the node is killed.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { Stripe } from "stripe"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { AuditStore } from "../../src/audit/AuditStore.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { BalanceOut } from "../../src/wire/account/Billing.ts"
import type { PaymentOut } from "../../src/wire/account/Payments.ts"
import {
  type AccountNode,
  databaseKinds,
  openDatabase,
  operatorOf,
  type Person,
  startNode
} from "../support/AccountService.ts"
import { figure } from "../support/Figures.ts"
import { startService } from "../support/Service.ts"
import { type StripeApi, start as startStripe } from "../support/StripeApi.ts"
import { startProxy } from "../support/TcpProxy.ts"

const webhookSecret = "whsec_of_this_test_only"
const payments = { STRIPE_SECRET_KEY: "sk_test_of_this_test_only", STRIPE_WEBHOOK_SECRET: webhookSecret }
const stripe = new Stripe(payments.STRIPE_SECRET_KEY)
const cents = 1_000
const microUsd = cents * 10_000
/** More than a webhook has. */
const maxSteps = 40
/** From the request to the kill; the last one comes with the answer. */
const millisToKill = [0, 10, 60, null]

interface Payment {
  readonly id: string
  readonly session: string
}

const bodyOf = ({ id, session }: Payment) =>
  JSON.stringify({
    id: `evt_${session}`,
    object: "event",
    type: "checkout.session.completed",
    data: {
      object: {
        id: session,
        object: "checkout.session",
        client_reference_id: id,
        amount_total: cents,
        currency: "usd",
        payment_intent: `pi_${session}`,
        payment_status: "paid",
        status: "complete"
      }
    }
  })

/** The status, or `undefined` where the node was killed before it has answered. */
const deliver = (url: string, payment: Payment): Promise<number | undefined> => {
  const payload = bodyOf(payment)
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret })
  return fetch(`${url}/webhooks/stripe`, {
    method: "POST",
    headers: { "content-type": "application/json", "stripe-signature": signature },
    body: payload
  }).then(
    ({ status }) => status,
    () => undefined
  )
}

const quietMillis = 400

/** Work in the background begins when a node listens: its first statements are not those of the webhook. */
const quiet = ({ onSent }: Pick<Awaited<ReturnType<typeof startProxy>>, "onSent">): Promise<void> =>
  new Promise((resolve) => {
    let timer = setTimeout(resolve, quietMillis)
    onSent(() => {
      clearTimeout(timer)
      timer = setTimeout(resolve, quietMillis)
    })
  })

const balanceOf = async (person: Person) =>
  (await (await person.send("GET", "/api/me/balance")).json()) as typeof BalanceOut.Encoded

describe.each(databaseKinds)("a node that is killed at a webhook, on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let directory: string
  let env: Readonly<Record<string, string>>
  let api: StripeApi
  beforeEach(async () => {
    database = await openDatabase(kind)
    api = await startStripe()
    directory = await mkdtemp(join(tmpdir(), "gateway-webhook-"))
    env = { ...(kind === "embedded" ? { DATA_DIR: directory } : database.env), ...payments }
  }, 60_000)
  afterEach(async () => {
    await api.stop()
    await database.close()
    await rm(directory, { recursive: true, force: true })
  })

  /** In a node that nothing happens to, of this process. */
  const undisturbed = async <A>(run: (node: AccountNode, owner: Person) => Promise<A>): Promise<A> => {
    const node = await startNode(env, api.url)
    const done = await run(node, await operatorOf(node))
    await node.stop()
    return done
  }
  const checkouts = (count: number) =>
    undisturbed(async (_, owner) => {
      const before = await balanceOf(owner)
      const made: Array<Payment> = []
      for (let at = 0; at < count; at++) {
        const response = await owner.send("POST", "/api/me/checkout", { credit_amount_cents: cents })
        const { payment_id, session_id } = (await response.json()) as Record<"payment_id" | "session_id", string>
        made.push({ id: payment_id, session: session_id })
      }
      return { made, before: before.credited_microusd }
    })

  /** Stripe delivers again what was not answered, and sometimes what was. */
  const expectEachCreditedOnce = (delivered: ReadonlyArray<Payment>, before: number) =>
    undisturbed(async (node, owner) => {
      const known = (await balanceOf(owner)).credited_microusd - before
      for (const payment of [...delivered, ...delivered]) expect(await deliver(node.url, payment)).toBe(200)
      const after = await balanceOf(owner)
      expect(after.credited_microusd - before).toBe(delivered.length * microUsd)
      const { items } = (await (await owner.send("GET", "/api/me/payments?limit=100")).json()) as {
        readonly items: ReadonlyArray<typeof PaymentOut.Encoded>
      }
      const credited = items.filter(({ status }) => status === "credited").map(({ id }) => id)
      expect(new Set(credited)).toEqual(new Set(delivered.map(({ id }) => id)))
      const rows = await node.run(Effect.flatMap(AuditStore, (audit) => audit.chain(owner.accountId, 0, 1_000)))
      expect(rows.filter(({ action }) => action === "payment.credit").length).toBe(delivered.length)
      expect(await node.run(Effect.flatMap(Ledger, (ledger) => ledger.checkInvariants))).toEqual([])
      return known / microUsd
    })

  it.runIf(kind === "PostgreSQL")(
    "credits each payment once, killed at each of its statements",
    async () => {
      const { made, before } = await checkouts(maxSteps)
      const target = new URL(env["DATABASE_URL"] ?? "")
      const proxy = await startProxy({ host: target.hostname, port: Number(target.port === "" ? 5432 : target.port) })
      const throughProxy = Object.assign(new URL(target), { hostname: "127.0.0.1", port: String(proxy.port) }).href
      const delivered: Array<Payment> = []
      let isAnswered = false
      for (let step = 1; !isAnswered; step++) {
        const payment = made[step - 1]
        if (payment === undefined) throw new Error("the webhook was never answered")
        delivered.push(payment)
        const service = await startService({ env: { ...env, DATABASE_URL: throughProxy }, dataDir: directory })
        await quiet(proxy)
        let left = step
        proxy.onSent(() => {
          left -= 1
          if (left === 0) service.process.kill("SIGKILL")
        })
        isAnswered = (await deliver(service.url, payment)) === 200 && left > 0
        proxy.onSent(() => {})
        await service.stop("SIGKILL")
      }
      await proxy.stop()
      // each statement of the transaction at least, with its begin and commit
      expect(delivered.length).toBeGreaterThan(8)
      const known = await expectEachCreditedOnce(delivered, before)
      figure("kills at a webhook on PostgreSQL: killed, credited by then", `${delivered.length - 1} ${known}`)
    },
    240_000
  )

  it.runIf(kind === "embedded")(
    "credits each payment once, killed soon after it has come",
    async () => {
      const { made, before } = await checkouts(millisToKill.length)
      for (const [at, payment] of made.entries()) {
        const service = await startService({ env, dataDir: directory })
        const answered = deliver(service.url, payment)
        const millis = millisToKill[at] ?? null
        await (millis === null ? answered : new Promise((resolve) => setTimeout(resolve, millis)))
        await service.stop("SIGKILL")
        await answered
      }
      const known = await expectEachCreditedOnce(made, before)
      figure("kills at a webhook, embedded: killed, credited by then", `${made.length} ${known}`)
    },
    240_000
  )
})
