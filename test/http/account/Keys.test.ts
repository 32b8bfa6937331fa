import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { hashOf } from "../../../src/identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../../../src/identity/keys/ApiKeyStore.ts"
import type { ApiKeyOut, ApiKeysPage, CreateApiKeyResponse } from "../../../src/wire/account/Keys.ts"
import type { ProjectOut } from "../../../src/wire/account/Projects.ts"
import {
  type AccountNode,
  databaseKinds,
  newPerson,
  openDatabase,
  operatorOf,
  type Person,
  sendTo,
  startNode
} from "../../support/AccountService.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"

type Key = typeof ApiKeyOut.Encoded
type Created = typeof CreateApiKeyResponse.Encoded

const credit = 1_000_000_000

describe.each(databaseKinds)("keys on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let node: AccountNode
  /** Another node on the same database; the embedded one belongs to one process. */
  let other: AccountNode
  let operator: Person
  let project: string
  beforeAll(async () => {
    database = await openDatabase(kind)
    const env = { ...database.env, GATEWAY_BOOTSTRAP_CREDIT_MICROUSD: String(credit) }
    node = await startNode(env)
    other = kind === "embedded" ? node : await startNode(env)
    operator = await operatorOf(node)
    project = (await jsonOf<{ readonly default_project_id: string }>(await operator.send("GET", "/api/me")))
      .default_project_id
  }, 120_000)
  afterAll(async () => {
    if (other !== node) await other.stop()
    await node.stop()
    await database.close()
  })

  const create = async (body: object = { name: "key" }) =>
    jsonOf<Created>(await operator.send("POST", `/api/projects/${project}/keys`, body))
  const defects = async () => {
    const text = await (await fetch(`${node.url}/metrics`)).text()
    return Number(/^gateway_defects_total (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  const read = async (id: string) => jsonOf<Key>(await operator.send("GET", `/api/keys/${id}`))
  const patch = (id: string, body: object, headers?: Readonly<Record<string, string>>) =>
    operator.send("PATCH", `/api/keys/${id}`, body, headers)
  const call = (at: AccountNode, secret: string) =>
    sendTo(at.url, { authorization: `Bearer ${secret}` })("POST", "/v1/chat/completions", {
      model: "sim/fast",
      max_completion_tokens: 20,
      messages: [{ role: "user", content: "hello" }]
    })
  const models = async (at: AccountNode, secret: string) =>
    (await sendTo(at.url, { authorization: `Bearer ${secret}` })("GET", "/v1/models")).status
  /** Until it is so; a notification of another node takes a moment. */
  const becomes = (ask: () => Promise<number>, status: number) => expect.poll(ask).toBe(status)
  const sql = (statement: string, parameters: ReadonlyArray<unknown>) =>
    node.run(Effect.flatMap(SqlClient, (client) => client.unsafe(statement, parameters)))

  it("are created with a secret that is shown once, read, and listed by pages", async () => {
    const made = await operator.send("POST", "/api/me/keys", { name: "first", spend_limit_microusd: 5 })
    expect(made.status).toBe(201)
    const first = await jsonOf<Created>(made)
    expect(first).toEqual({
      id: expect.any(String),
      api_key: expect.stringMatching(/^mrg_sk_/),
      key_prefix: first.api_key.slice(0, 12),
      name: "first"
    })
    const found = await read(first.id)
    expect(found).toEqual({
      id: first.id,
      kind: "secret",
      key_prefix: first.key_prefix,
      name: "first",
      project_id: project,
      is_active: true,
      spend_limit_microusd: 5,
      limit_reset: null,
      spent_microusd: 0,
      total_spent_microusd: 0,
      expires_at: null,
      rate_limits: null,
      previous_secret_until: null,
      revoked_at: null,
      last_used_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })
    expect(JSON.stringify(found)).not.toContain(first.api_key)
    await create({ name: "second" })
    const list = async (query: string) =>
      jsonOf<typeof ApiKeysPage.Encoded>(await operator.send("GET", `/api/projects/${project}/keys${query}`))
    const page = await list("?limit=1&page=2")
    expect(page).toMatchObject({ items: [{ name: "first" }], page: 2, limit: 1 })
    expect((await list("")).items.length).toBe(page.total)
    expect(await jsonOf(await operator.send("GET", "/api/me/keys"))).toEqual(await list(""))
  })

  it("are listed by whether they have spent nearly their limit", async () => {
    const { id: other } = await jsonOf<{ readonly id: string }>(
      await operator.send("POST", "/api/me/projects", { name: "limits" })
    )
    const keyOf = async (name: string, limit: number | null, spent: number, spentBefore = 0) => {
      const body = { name, ...(limit === null ? {} : { spend_limit_microusd: limit }) }
      const { id } = await jsonOf<Created>(await operator.send("POST", `/api/projects/${other}/keys`, body))
      await sql("update scope set spent_micro_usd = $2, spent_before_day = $3 where id = $1", [id, spent, spentBefore])
      return id
    }
    await keyOf("near", 1_000, 800)
    await keyOf("not near", 1_000, 799)
    await keyOf("over", 1, 5)
    await keyOf("without a limit", null, 1_000_000)
    await keyOf("of which nothing may be spent", 0, 0)
    const revoked = await keyOf("revoked", 1_000, 1_000)
    await operator.send("POST", `/api/keys/${revoked}/revoke`)
    for (const [name, before] of [
      ["spent yesterday", 900],
      ["spent today", 100]
    ] as const) {
      const id = await keyOf(name, 1_000, 900, before)
      await operator.send("PATCH", `/api/keys/${id}`, { limit_reset: "day" })
    }
    const list = async (query: string) => {
      const { items, total } = await jsonOf<typeof ApiKeysPage.Encoded>(
        await operator.send("GET", `/api/projects/${other}/keys?${query}`)
      )
      return [total, items.map(({ name }) => name)]
    }
    const near = ["spent today", "over", "near"]
    expect(await list("near_limit=true")).toEqual([3, near])
    expect(await list("near_limit=true&limit=1&page=2")).toEqual([3, ["over"]])
    expect(await list("near_limit=false")).toEqual([
      5,
      ["spent yesterday", "revoked", "of which nothing may be spent", "without a limit", "not near"]
    ])
    expect((await list(""))[0]).toBe(8)
    const refused = await operator.send("GET", `/api/projects/${other}/keys?near_limit=1`)
    expect(await errorOf(refused)).toEqual([400, "invalid_value", "near_limit"])
  })

  it("are an error of the service where what is stored of them cannot be sent", async () => {
    const { id, api_key: secret } = await create()
    const status = () => sendTo(node.url, { authorization: `Bearer ${secret}` })("GET", "/v1/key")
    const limitTo = (limit: string | null) =>
      node.run(Effect.flatMap(SqlClient, (sql) => sql`update scope set limit_micro_usd = ${limit} where id = ${id}`))
    await limitTo("9007199254740993")
    const counted = await defects()
    expect(await errorOf(await operator.send("GET", `/api/keys/${id}`))).toEqual([500, "internal_error", null])
    expect(await errorOf(await status())).toEqual([500, "internal_error", null])
    expect(await defects()).toBe(counted + 2)
    await limitTo(null)
    expect(await read(id)).toMatchObject({ id, spend_limit_microusd: null })
    expect(await jsonOf(await status())).toMatchObject({ id, spend_limit_microusd: null })
  })

  it("that is deleted while its holder asks for its status is an unknown key", async () => {
    const { id, api_key: secret } = await create()
    const status = () => sendTo(node.url, { authorization: `Bearer ${secret}` })("GET", "/v1/key")
    expect((await status()).status).toBe(200)
    // authenticated from memory, and gone when its row is read
    await node.run(Effect.flatMap(SqlClient, (sql) => sql`delete from scope where id = ${id}`))
    expect(await errorOf(await status())).toEqual([401, "invalid_api_key", null])
    await node.run(Effect.flatMap(SqlClient, (sql) => sql`delete from api_key where id = ${id}`))
  })

  it("are created in any project by operators only, and in no other's by anybody else", async () => {
    const person = await newPerson(node)
    expect(await errorOf(await person.send("POST", "/api/me/keys", { name: "x" }))).toEqual([404, "not_found", null])
    expect(await jsonOf(await person.send("GET", "/api/me/keys"))).toEqual({ items: [], total: 0, page: 1, limit: 20 })
    const theirs = await jsonOf<typeof ProjectOut.Encoded>(await person.send("POST", "/api/me/projects", { name: "p" }))
    const body = { name: "by an operator", project_id: theirs.id }
    const made = await operator.send("POST", "/api/admin/keys", body)
    expect(made.status).toBe(201)
    expect(await jsonOf(await person.send("GET", "/api/me/keys"))).toMatchObject({ total: 1 })
    expect(await errorOf(await person.send("POST", "/api/admin/keys", body))).toEqual([403, "operator_required", null])
    expect(
      await errorOf(await operator.send("POST", "/api/admin/keys", { ...body, project_id: person.userId }))
    ).toEqual([404, "not_found", null])
  })

  it("are created once for an Idempotency-Key, with the same secret in each answer", async () => {
    const once = { "idempotency-key": "one key" }
    const path = `/api/projects/${project}/keys`
    const first = await jsonOf<Created>(await operator.send("POST", path, { name: "once" }, once))
    const again = await operator.send("POST", path, { name: "once" }, once)
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"])
    expect(await jsonOf(again)).toEqual(first)
    const rotate = { "idempotency-key": "one rotation" }
    const rotated = await jsonOf<Created>(await operator.send("POST", `/api/keys/${first.id}/rotate`, {}, rotate))
    expect(await jsonOf(await operator.send("POST", `/api/keys/${first.id}/rotate`, {}, rotate))).toEqual(rotated)
  })

  it("are changed field by field, under If-Match", async () => {
    const { id } = await create()
    const etag = (await operator.send("GET", `/api/keys/${id}`)).headers.get("etag") ?? ""
    const before = await read(id)
    const changes = {
      name: "changed",
      spend_limit_microusd: 7,
      limit_reset: "month",
      expires_at: "2100-01-01T00:00:00.000Z",
      rate_limits: { requests_per_minute: 3, tokens_per_minute: null, concurrent_requests: null }
    }
    const changed = await patch(id, changes, { "if-match": etag })
    expect(await jsonOf(changed)).toEqual({ ...before, ...changes })
    expect(changed.headers.get("etag")).not.toBe(etag)
    expect(await errorOf(await patch(id, { name: "late" }, { "if-match": etag }))).toEqual([
      412,
      "version_mismatch",
      null
    ])
    await patch(id, { expires_at: null, rate_limits: null, limit_reset: null, spend_limit_microusd: null })
    expect(await read(id)).toEqual({ ...before, name: "changed" })
    expect(await errorOf(await patch(id, { limit_reset: "year" }))).toEqual([400, "invalid_value", "limit_reset"])
    expect(await errorOf(await patch(id, { rate_limits: { requests_per_minute: 0 } }))).toEqual([
      400,
      "invalid_value",
      "rate_limits.requests_per_minute"
    ])
    expect(await errorOf(await patch(id, { hash: "x" }))).toEqual([400, "unsupported_parameter", "hash"])
    for (const expires_at of ["1", "2027-02-31T00:00:00Z", "-271821-04-20T00:00:00Z"]) {
      expect(await errorOf(await patch(id, { expires_at }))).toEqual([400, "invalid_value", "expires_at"])
    }
  })

  it("are refused on every node while inactive, when expired, and permanently after a revocation", async () => {
    const { api_key, id } = await create()
    const everywhere = async (status: number) => {
      for (const at of [node, other]) await becomes(() => models(at, api_key), status)
    }
    await everywhere(200)
    await patch(id, { is_active: false })
    await everywhere(401)
    await patch(id, { is_active: true })
    await everywhere(200)
    await patch(id, { expires_at: new Date(Date.now() - 1).toISOString() })
    await everywhere(401)
    await patch(id, { expires_at: null })
    await everywhere(200)
    const revoked = await operator.send("POST", `/api/keys/${id}/revoke`)
    expect(await jsonOf(revoked)).toMatchObject({ id, is_active: false, revoked_at: expect.any(String) })
    await everywhere(401)
    expect(await errorOf(await patch(id, { is_active: true }))).toEqual([400, "invalid_value", "is_active"])
    expect(await errorOf(await operator.send("POST", `/api/keys/${id}/rotate`, {}))).toEqual([
      400,
      "invalid_value",
      "id"
    ])
  })

  it("of a deleted project are refused on every node, whatever is stored of them", async () => {
    const { id } = await jsonOf<typeof ProjectOut.Encoded>(
      await operator.send("POST", "/api/me/projects", { name: "deleted" })
    )
    const { api_key } = await jsonOf<Created>(
      await operator.send("POST", `/api/projects/${id}/keys`, { name: "still active" })
    )
    for (const at of [node, other]) await becomes(() => models(at, api_key), 200)
    await sql("update project set deleted_at = now() where id = $1", [id])
    await sql("select pg_notify('gateway_changes', $1)", [`project:${id}`])
    for (const at of [node, other]) await becomes(() => models(at, api_key), 401)
    const known = await node.run(Effect.flatMap(ApiKeyStore, (store) => store.activeHashes(1_000)))
    expect(known).not.toContain(hashOf(api_key))
  })

  it.skipIf(kind === "embedded")("do not become active in a project that is deleted meanwhile", async () => {
    const { id: deleted } = await jsonOf<typeof ProjectOut.Encoded>(
      await operator.send("POST", "/api/me/projects", { name: "deleted meanwhile" })
    )
    const made = async (body: object) => {
      const { id } = await jsonOf<Created>(
        await operator.send("POST", `/api/projects/${deleted}/keys`, { name: "inactive" })
      )
      await patch(id, body)
      return id
    }
    const [inactive, expired, rotated] = [
      await made({ is_active: false }),
      await made({ expires_at: "2020-01-01T00:00:00Z" }),
      await made({ is_active: false })
    ]
    const requests = [
      ["PATCH", inactive, { is_active: true }],
      ["PATCH", expired, { expires_at: null }],
      ["POST", `${rotated}/rotate`, { grace_seconds: 3_600 }]
    ] as const
    await withOpenTransaction(database.env.DATABASE_URL, async (other) => {
      await other.query("update project set deleted_at = now() where id = $1", [deleted])
      const sent = requests.map(
        async ([method, path, body]) => (await operator.send(method, `/api/keys/${path}`, body)).status
      )
      await other.holdsBack(...sent)
      await other.commit()
      expect(await Promise.all(sent)).toEqual([404, 404, 404])
    })
    const active =
      "select from api_key where project_id = $1 and is_active and (expires_at is null or expires_at > now())"
    expect(await sql(active, [deleted])).toEqual([])
  })

  it("rotate: both secrets work on every node until the grace ends, then the new one only", async () => {
    const { api_key: old, id } = await create()
    const rotate = async (body: object) => jsonOf<Created>(await operator.send("POST", `/api/keys/${id}/rotate`, body))
    const rotated = await rotate({ grace_seconds: 3_600 })
    expect(rotated).toMatchObject({ id, name: "key" })
    expect((await read(id)).previous_secret_until).toEqual(expect.any(String))
    for (const at of [node, other]) {
      for (const secret of [old, rotated.api_key]) await becomes(() => models(at, secret), 200)
    }
    // the grace ends while the old secret is cached: the entry lives no longer than the grace
    await sql("update api_key set previous_until = now() + interval '1 second' where id = $1", [id])
    await sql("select pg_notify('gateway_changes', $1)", [`key:${id}`])
    for (const at of [node, other]) {
      await becomes(() => models(at, old), 401)
      expect(await models(at, rotated.api_key)).toBe(200)
    }
    expect((await read(id)).previous_secret_until).toBeNull()
    const third = await rotate({})
    for (const at of [node, other]) {
      await becomes(() => models(at, rotated.api_key), 401)
      expect(await models(at, third.api_key)).toBe(200)
    }
    // a grace never outlives a revocation
    const fourth = await rotate({ grace_seconds: 3_600 })
    await operator.send("POST", `/api/keys/${id}/revoke`)
    for (const at of [node, other]) {
      for (const secret of [third.api_key, fourth.api_key]) await becomes(() => models(at, secret), 401)
    }
  })

  it("rotate: an answer that is kept for an Idempotency-Key is replayed to the holder of either secret", async () => {
    const { api_key: old, id } = await create()
    const rotated = await jsonOf<Created>(await operator.send("POST", `/api/keys/${id}/rotate`, { grace_seconds: 600 }))
    const ask = (secret: string) =>
      fetch(`${node.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "idempotency-key": "asked" },
        body: JSON.stringify({ model: "sim/fast", messages: [{ role: "user", content: "hi" }] })
      })
    const first = await (await ask(old)).text()
    for (const secret of [rotated.api_key, old]) {
      const again = await ask(secret)
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"])
      expect(await again.text()).toBe(first)
    }
  })

  it("are deleted: found no more, but their calls stay", async () => {
    const { api_key, id } = await create()
    expect((await call(node, api_key)).status).toBe(200)
    expect((await operator.send("DELETE", `/api/keys/${id}`)).status).toBe(204)
    await becomes(() => models(node, api_key), 401)
    expect(await errorOf(await operator.send("GET", `/api/keys/${id}`))).toEqual([404, "not_found", null])
    expect(await errorOf(await operator.send("DELETE", `/api/keys/${id}`))).toEqual([404, "not_found", null])
    const list = await jsonOf<typeof ApiKeysPage.Encoded>(await operator.send("GET", "/api/me/keys?limit=100"))
    expect(list.items.map((key) => key.id)).not.toContain(id)
    await expect.poll(() => sql("select from call where key_id = $1", [id])).toHaveLength(1)
  })

  it("spend up to their limit on all nodes together, and again after its reset", async () => {
    const { api_key, id } = await create()
    const spent = async () => (await read(id)).spent_microusd
    expect((await call(node, api_key)).status).toBe(200)
    await expect.poll(spent).toBeGreaterThan(0)
    const one = await spent()
    await patch(id, { spend_limit_microusd: one, limit_reset: "day" })
    for (const at of [node, other]) {
      expect(await errorOf(await call(at, api_key))).toEqual([402, "spend_limit_exceeded", null])
    }
    // as if all of it had been spent yesterday
    await sql("update scope set day = day - 1 where id = $1", [id])
    expect(await read(id)).toMatchObject({ spent_microusd: 0, total_spent_microusd: one })
    await patch(id, { spend_limit_microusd: 1_000_000 })
    expect((await call(other, api_key)).status).toBe(200)
    await expect.poll(spent).toBe(one)
    await patch(id, { spend_limit_microusd: one })
    for (const at of [node, other]) {
      expect(await errorOf(await call(at, api_key))).toEqual([402, "spend_limit_exceeded", null])
    }
    expect(await read(id)).toMatchObject({ spent_microusd: one, total_spent_microusd: 2 * one })
  })

  it("have rate limits of their own, as their project has, on all nodes together", async () => {
    const { api_key, id } = await create()
    await patch(id, { rate_limits: { requests_per_minute: 2 } })
    for (const at of [node, other]) {
      await expect.poll(async () => (await call(at, api_key)).status).toBe(429)
    }
    await patch(id, { rate_limits: null })
    for (const at of [node, other]) await becomes(async () => (await call(at, api_key)).status, 200)
    await operator.send("PATCH", `/api/projects/${project}`, { rate_limits: { tokens_per_minute: 1 } })
    const changed = await jsonOf(await operator.send("GET", `/api/projects/${project}`))
    expect(changed).toMatchObject({
      rate_limits: { requests_per_minute: null, tokens_per_minute: 1, concurrent_requests: null }
    })
    for (const at of [node, other]) await becomes(async () => (await call(at, api_key)).status, 429)
    await operator.send("PATCH", `/api/projects/${project}`, { rate_limits: null })
    for (const at of [node, other]) await becomes(async () => (await call(at, api_key)).status, 200)
  })

  it("leave audit rows without a secret", async () => {
    const owner = await newPerson(node)
    await owner.send("POST", "/api/me/projects", { name: "audited" })
    const { api_key, id } = await jsonOf<Created>(await owner.send("POST", "/api/me/keys", { name: "audited" }))
    await owner.send("PATCH", `/api/keys/${id}`, { limit_reset: "week" })
    const { api_key: next } = await jsonOf<Created>(await owner.send("POST", `/api/keys/${id}/rotate`, {}))
    await owner.send("POST", `/api/keys/${id}/revoke`)
    await owner.send("DELETE", `/api/keys/${id}`)
    const rows = await node.run(Effect.flatMap(AuditStore, (store) => store.chain(owner.accountId, 2, 10)))
    expect(rows.map(({ action, targetId }) => [action, targetId])).toEqual(
      ["key.create", "key.update", "key.rotate", "key.revoke", "key.delete"].map((action) => [action, id])
    )
    expect(JSON.parse(rows[1]?.before ?? "")).toMatchObject({ limit_reset: null })
    expect(JSON.parse(rows[1]?.after ?? "")).toMatchObject({ limit_reset: "week" })
    expect(rows[4]?.after).toBeNull()
    for (const secret of [api_key, next]) expect(JSON.stringify(rows)).not.toContain(secret)
  })
})

it("only an operator raises a rate limit above what is configured for all", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "keys-")), "gateway.json")
  await writeFile(file, JSON.stringify({ rateLimits: { key: { requestsPerMinute: 10 } } }))
  const node = await startNode({ DATA_DIR: ":memory:", GATEWAY_CONFIG: file })
  const person = await newPerson(node)
  await person.send("POST", "/api/me/projects", { name: "theirs" })
  const ids = await Promise.all(
    [person, await operatorOf(node)].map(
      async (owner) => (await jsonOf<Created>(await owner.send("POST", "/api/me/keys", { name: "key" }))).id
    )
  )
  const operator = await operatorOf(node)
  const set = (owner: Person, id: string | undefined, rate: number | null) =>
    owner.send("PATCH", `/api/keys/${id}`, { rate_limits: { requests_per_minute: rate } })
  for (const rate of [11, null]) {
    expect(await errorOf(await set(person, ids[0], rate))).toEqual([
      400,
      "invalid_value",
      "rate_limits.requests_per_minute"
    ])
    expect((await set(operator, ids[1], rate)).status).toBe(200)
  }
  expect((await set(person, ids[0], 10)).status).toBe(200)
  await node.stop()
})
