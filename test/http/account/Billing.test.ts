import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { BalanceStore } from "../../../src/account/billing/BalanceStore.ts"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import { Scopes } from "../../../src/ledger/Scopes.ts"
import type { BalanceOut, InFlightOut, LedgerEntryOut } from "../../../src/wire/account/Billing.ts"
import { cursorOf } from "../../../src/wire/account/Page.ts"
import type { RequestOut } from "../../../src/wire/account/Requests.ts"
import {
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  sendTo,
  startNode,
  startsNode
} from "../../support/AccountService.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"
import { testKey } from "../../support/Service.ts"

type Balance = typeof BalanceOut.Encoded
type Entry = typeof LedgerEntryOut.Encoded
interface PageOf<A> {
  readonly items: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next_cursor: string | null
}

describe.each(databaseKinds)("billing on %s", (kind) => {
  const node = startsNode(kind)
  let operator: Person
  beforeAll(async () => {
    operator = await operatorOf(node)
  })

  const balanceOf = async (person: Person) => jsonOf<Balance>(await person.send("GET", "/api/me/balance"))
  const ledgerOf = async (person: Person, query = "") =>
    jsonOf<PageOf<Entry>>(await person.send("GET", `/api/me/ledger${query}`))
  const expectAddsUp = (balance: Balance) =>
    expect(balance.spent_microusd + balance.held_microusd + balance.available_microusd).toBe(balance.credited_microusd)
  const give = (person: Person, amount: number, key: string, note = "a gift") =>
    operator.send(
      "POST",
      `/api/admin/accounts/${person.accountId}/credits`,
      { amount_microusd: amount, note },
      { "idempotency-key": key }
    )
  const chat = (content: string, more: object = {}) =>
    sendTo(node.url, { authorization: `Bearer ${testKey}` })("POST", "/v1/chat/completions", {
      model: "sim/fast",
      messages: [{ role: "user", content }],
      ...more
    })

  it("gives an account credit once for an Idempotency-Key, in one row of its ledger and of its audit log", async () => {
    const person = await newPerson(node)
    expect(await balanceOf(person)).toEqual({
      credited_microusd: 0,
      spent_microusd: 0,
      held_microusd: 0,
      available_microusd: 0
    })
    const [first, second] = [await give(person, 5_000, "one"), await give(person, 5_000, "one")]
    expect([first.status, second.status, second.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"])
    expect(await jsonOf(first)).toEqual(await jsonOf(second))
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 5_000, available_microusd: 5_000 })
    const { items } = await ledgerOf(person)
    expect(items).toEqual([
      {
        id: expect.any(String),
        kind: "credit",
        debit: "payments",
        credit: `account:${person.accountId}`,
        amount_microusd: 5_000,
        call_id: null,
        source: expect.stringMatching(/^operator:/),
        note: "a gift",
        at: expect.stringMatching(/Z$/)
      }
    ])
    const chain = await node.run(Effect.flatMap(AuditStore, (audit) => audit.chain(person.accountId, 0, 10)))
    const credits = chain.filter(({ action }) => action === "account.credit")
    expect(credits.map(({ actorUserId }) => actorUserId)).toEqual([operator.userId])
    expect(await errorOf(await give(person, 5_001, "one"))).toEqual([400, "idempotency_key_reused", null])
  })

  it.skipIf(kind === "embedded")(
    "gives no more credit than can be counted exactly, also by credits at once",
    async () => {
      const person = await newPerson(node)
      const before = Number.MAX_SAFE_INTEGER - 1_500
      await node.run(Effect.flatMap(Scopes, (scopes) => scopes.credit(person.accountId, before, "nearly all")))
      const waiting = Effect.flatMap(
        SqlClient,
        (sql) => sql<{ readonly n: number }>`select count(*)::int as n from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
      )
      // both have begun before one of them is committed
      const begun = node.run(
        Effect.flatMap(SqlClient, (sql) =>
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`select pg_advisory_xact_lock(hashtextextended(${`audit ${person.accountId}`}, 0))`
              const credits = [give(person, 1_000, "at once 1"), give(person, 1_000, "at once 2")]
              yield* Effect.repeat(waiting, { until: ([row]) => row?.n === credits.length })
              return credits
            })
          )
        )
      )
      const statuses = (await Promise.all(await begun)).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([201, 400])
      expect(await balanceOf(person)).toMatchObject({ credited_microusd: before + 1_000 })
    }
  )

  it("refuses credits without an Idempotency-Key, without a note, of nothing, and by others than operators", async () => {
    const person = await newPerson(node)
    const path = `/api/admin/accounts/${person.accountId}/credits`
    const body = { amount_microusd: 1, note: "x" }
    const key = { "idempotency-key": "k" }
    expect(await errorOf(await operator.send("POST", path, body))).toEqual([
      400,
      "missing_required_parameter",
      "idempotency-key"
    ])
    expect(await errorOf(await operator.send("POST", path, { ...body, note: "" }, key))).toEqual([
      400,
      "invalid_value",
      "note"
    ])
    expect(await errorOf(await operator.send("POST", path, { ...body, amount_microusd: 0 }, key))).toEqual([
      400,
      "invalid_value",
      "amount_microusd"
    ])
    expect(await errorOf(await operator.send("POST", path, { ...body, source: "x" }, key))).toEqual([
      400,
      "unsupported_parameter",
      "source"
    ])
    expect(await errorOf(await person.send("POST", path, body, key))).toEqual([403, "operator_required", null])
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 0 })
  })

  it("lists the ledger newest first in pages, and the usage of calls adds up to what is spent", async () => {
    const before = await ledgerOf(operator, "?limit=100")
    for (const content of ["one", "two", "three"]) expect((await chat(content)).status).toBe(200)
    await node.run(Effect.flatMap(Ledger, (ledger) => ledger.flushed))
    const all = await ledgerOf(operator, "?limit=100")
    expect(all.items.length).toBe(before.items.length + 3)
    const ids = all.items.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort().reverse())
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const usage = all.items.filter((entry) => entry.kind === "usage")
    for (const entry of usage) {
      expect(entry).toMatchObject({ debit: `account:${operator.accountId}`, credit: "revenue", source: null })
    }
    const balance = await balanceOf(operator)
    expect(balance.spent_microusd).toBe(usage.reduce((sum, entry) => sum + entry.amount_microusd, 0))
    expectAddsUp(balance)
    const first = await ledgerOf(operator, "?limit=2")
    const second = await ledgerOf(operator, `?limit=2&cursor=${first.next_cursor}`)
    expect([...first.items, ...second.items]).toEqual(all.items.slice(0, 4))
    const pastAll = cursorOf("ledger", "ffffffff-ffff-ffff-ffff-fffffffffff0")
    expect((await ledgerOf(operator, `?cursor=${pastAll}`)).items.length).toBeGreaterThan(0)
  })

  it("shows what running calls hold, and the balance adds up meanwhile", async () => {
    const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
      await operator.send("GET", "/api/me")
    )
    const path = `/api/projects/${default_project_id}/in-flight`
    const running = await chat("hello", { model: "sim/stall-mid", stream: true })
    const { items } = await jsonOf<PageOf<typeof InFlightOut.Encoded>>(await operator.send("GET", path))
    expect(items).toMatchObject([{ requested_model: "sim/stall-mid", billing_mode: "managed", key_name: "default" }])
    const balance = await balanceOf(operator)
    expect(balance.held_microusd).toBe(items.reduce((sum, hold) => sum + hold.held_microusd, 0))
    expect(balance.held_microusd).toBeGreaterThan(0)
    expectAddsUp(balance)
    await running.body?.cancel()
  })

  /** A streamed call that has begun and does not end by itself. */
  const runningCall = async (content: string) => {
    const response = await chat(content, { model: "sim/stall-mid", stream: true })
    expect(response.status).toBe(200)
    const { default_project_id: project } = await jsonOf<{ readonly default_project_id: string }>(
      await operator.send("GET", "/api/me")
    )
    return { response, project, id: response.headers.get("x-request-id") ?? "" }
  }
  const requestOf = async (id: string) => {
    await node.run(Effect.flatMap(Ledger, (ledger) => ledger.flushed))
    return jsonOf<RequestOut>(await operator.send("GET", `/api/requests/${id}`))
  }

  it("stops a running call, charges it as a cancelled one, and writes who did it", async () => {
    const { id, project, response } = await runningCall("stop me")
    const path = `/api/projects/${project}/in-flight/${id}/stop`
    const stopped = await operator.send("POST", path)
    expect(stopped.status).toBe(202)
    const hold = await jsonOf<typeof InFlightOut.Encoded>(stopped)
    expect(hold).toMatchObject({ id, requested_model: "sim/stall-mid", key_name: "default" })
    expect(hold.held_microusd).toBeGreaterThan(0)
    const text = await response.text()
    expect([text.includes('"code":"call_stopped"'), text.includes("[DONE]")]).toEqual([true, false])
    const call = await requestOf(id)
    expect(call).toMatchObject({
      status: "cancelled",
      error: { code: "call_stopped" },
      cost: { basis: "estimated" },
      attempts: [{ status: "cancelled", error: { code: "call_stopped" } }],
      held_microusd: hold.held_microusd,
      alpha: null,
      baseline: null
    })
    expect(call.cost.amount_microusd).toBeGreaterThan(0)
    const chain = await node.run(Effect.flatMap(AuditStore, (audit) => audit.chain(operator.accountId, 0, 100)))
    expect(chain.filter(({ action }) => action === "call.stop")).toMatchObject([
      { actorUserId: operator.userId, targetKind: "call", targetId: id }
    ])
    expect(await errorOf(await operator.send("POST", path))).toEqual([404, "not_found", null])
  })

  it("stops no call of another project", async () => {
    const { id, project, response } = await runningCall("not yours")
    const other = await newPerson(node)
    const { id: theirs } = await jsonOf<{ readonly id: string }>(
      await other.send("POST", "/api/me/projects", { name: "theirs" })
    )
    for (const asked of [project, theirs]) {
      const refused = await other.send("POST", `/api/projects/${asked}/in-flight/${id}/stop`)
      expect(await errorOf(refused)).toEqual([404, "not_found", null])
    }
    expect(await jsonOf(await operator.send("GET", `/api/projects/${project}/in-flight`))).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id })])
    })
    await response.body?.cancel()
  })

  it.skipIf(kind === "embedded")("stops a call from another node than the one on which it runs", async () => {
    const { id, project, response } = await runningCall("elsewhere")
    const second = await startNode(node.env)
    try {
      const send = sendTo(second.url, { authorization: `Bearer ${operator.token}` })
      expect((await send("POST", `/api/projects/${project}/in-flight/${id}/stop`)).status).toBe(202)
      expect(await response.text()).toContain('"code":"call_stopped"')
      expect(await requestOf(id)).toMatchObject({ status: "cancelled" })
    } finally {
      await second.stop()
    }
  })

  it("reverses what was paid once, and overdraws the account where it is spent", async () => {
    const person = await newPerson(node)
    await give(person, 1_000, "to be reversed")
    const payBack = (amountMicroUsd: number, source: string) =>
      node.run(
        Effect.flatMap(BalanceStore, (store) =>
          store.payBack({ account: person.accountId, kind: "refund", amountMicroUsd, source })
        )
      )
    expect([await payBack(400, "refund:1"), await payBack(400, "refund:1"), await payBack(600, "refund:2")]).toEqual([
      true,
      false,
      true
    ])
    expect(await balanceOf(person)).toMatchObject({ credited_microusd: 0, available_microusd: 0 })
    expect((await ledgerOf(person)).items.map(({ amount_microusd, kind }) => [kind, amount_microusd])).toEqual([
      ["refund", 600],
      ["refund", 400],
      ["credit", 1_000]
    ])
    expect(await node.run(Effect.flatMap(Ledger, (ledger) => ledger.checkInvariants))).toEqual([])
  })
})
