import { randomUUID } from "node:crypto"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { beforeAll, describe, expect, it } from "vitest"
import { Refusals } from "../../../src/account/requests/Refusals.ts"
import { KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import * as AccountClient from "../../../src/http/account/AccountClient.ts"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import { Scopes } from "../../../src/ledger/Scopes.ts"
import type { ActivityDataOut, SavingsOut } from "../../../src/wire/account/Activity.ts"
import type { KeyStatusOut } from "../../../src/wire/account/KeyStatus.ts"
import type { RefusalOut } from "../../../src/wire/account/Refusals.ts"
import type { RequestOut } from "../../../src/wire/account/Requests.ts"
import { logCalls } from "../../account/calls.ts"
import { databaseKinds, newPerson, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { testKey } from "../../support/Service.ts"

interface List<A> {
  readonly items: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next_cursor: string | null
}

const jsonOf = async <A>(response: Response): Promise<A> => {
  expect(response.status).toBe(200)
  return (await response.json()) as A
}

describe.each(databaseKinds)("activity and requests on %s", (kind) => {
  const node = startsNode(kind)
  let operator: Person
  let project: string
  beforeAll(async () => {
    operator = await operatorOf(node)
    const me = await jsonOf<{ readonly default_project_id: string }>(await operator.send("GET", "/api/me"))
    project = me.default_project_id
  })

  const call = (body: object) =>
    sendTo(node.url, { authorization: `Bearer ${testKey}` })("POST", "/v1/chat/completions", {
      messages: [{ role: "user", content: "Hello." }],
      ...body
    })
  const flushed = () => node.run(Effect.flatMap(Ledger, (ledger) => ledger.flushed))
  const get = async <A>(path: string) => jsonOf<A>(await operator.send("GET", path))
  const errorOf = async (path: string) => {
    const response = await operator.send("GET", path)
    const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly param: string } }
    return [response.status, error.code, error.param]
  }

  it("show calls as they were answered, and spend equal to the journal", async () => {
    const ids = []
    for (const model of ["auto", "sim/deep", "auto"]) {
      const response = await call({ model })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      ids.push(response.headers.get("x-request-id"))
    }
    await flushed()
    const data = await get<ActivityDataOut>(`/api/projects/${project}/activity`)
    expect(data.timeseries).toHaveLength(30)
    expect([data.summary.requests_24h, data.timeseries.at(-1)?.requests, data.granularity]).toEqual([3, 3, "day"])
    const [charged] = await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql<{ spent: number }>`select sum(amount_micro_usd)::int as spent from journal where kind = 'usage'`
      )
    )
    expect(charged?.spent).toBeGreaterThan(0)
    expect(data.summary.spend_24h_microusd).toBe(charged?.spent)
    expect(data.by_key).toMatchObject([{ name: "default", count: 3, spend_microusd: charged?.spent }])

    const list = await get<List<RequestOut>>(`/api/projects/${project}/requests?limit=2`)
    expect(list.items.map(({ id }) => id)).toEqual([ids[2], ids[1]])
    const rest = await get<List<RequestOut>>(`/api/projects/${project}/requests?cursor=${list.next_cursor}`)
    expect([rest.items.map(({ id }) => id), rest.has_more, rest.next_cursor]).toEqual([[ids[0]], false, null])
    const one = await get<RequestOut>(`/api/requests/${ids[1]}`)
    expect(one).toEqual(list.items[1])
    expect(one).toMatchObject({
      key_name: "default",
      requested_model: "sim/deep",
      model: "sim/deep",
      status: "success",
      error: null
    })
    expect(one.attempts).toHaveLength(1)
    const other = await get<List<RequestOut>>(`/api/projects/${project}/requests?model=sim/deep&status=success`)
    expect(other.items).toContainEqual(one)
    expect(other.items.every(({ model }) => model === "sim/deep")).toBe(true)
  })

  it("are shown to the key that made them, by the id of the request or of the response", async () => {
    const withKey = sendTo(node.url, { authorization: `Bearer ${testKey}` })
    const response = await call({ model: "sim/deep" })
    const { id } = (await response.json()) as { readonly id: string }
    const requestId = response.headers.get("x-request-id") ?? ""
    const shown = await jsonOf<RequestOut>(await withKey("GET", `/v1/generation?id=${id}`))
    expect(shown).toMatchObject({ id: requestId, model: "sim/deep", status: "success" })
    expect(await jsonOf<RequestOut>(await withKey("GET", `/v1/generation?id=${requestId}`))).toEqual(shown)
    for (const form of [requestId, id, id.slice("chatcmpl-".length).toUpperCase()]) {
      expect(await get<RequestOut>(`/api/requests/${form}`)).toEqual(shown)
    }
    expect(await errorOf("/api/requests/chatcmpl-1")).toEqual([400, "invalid_value", "id"])

    const caller = { ...operator, projectId: ProjectId.make(randomUUID()), keyId: KeyId.make(randomUUID()) }
    const [foreign] = await node.run(logCalls([{ caller, agoSeconds: 0 }]))
    for (const [query, status, code] of [
      [`?id=${foreign}`, 404, "not_found"],
      [`?id=${randomUUID()}`, 404, "not_found"],
      ["?id=x", 404, "not_found"],
      ["", 400, "missing_required_parameter"]
    ] as const) {
      const answer = await withKey("GET", `/v1/generation${query}`)
      const { error } = (await answer.json()) as { readonly error: { readonly code: string } }
      expect([query, answer.status, error.code]).toEqual([query, status, code])
    }
    expect((await operator.send("GET", `/v1/generation?id=${id}`)).status).toBe(401)
    expect((await withKey("POST", "/v1/generation")).status).toBe(400)
  })

  it("have the name of their key also when it is deleted", async () => {
    const idOf = async (path: string, name: string) => {
      const made = await operator.send("POST", path, { name })
      return ((await made.json()) as { readonly id: string }).id
    }
    const id = await idOf("/api/me/projects", "keys")
    const key = await idOf(`/api/projects/${id}/keys`, "gone")
    const caller = { ...operator, projectId: ProjectId.make(id), keyId: KeyId.make(key) }
    await node.run(logCalls([{ caller, agoSeconds: 0 }]))
    expect((await operator.send("DELETE", `/api/keys/${key}`)).status).toBe(204)
    const { by_key } = await get<ActivityDataOut>(`/api/projects/${id}/activity`)
    const { items } = await get<List<RequestOut>>(`/api/projects/${id}/requests`)
    expect(by_key).toMatchObject([{ key_id: key, name: "gone", count: 1 }])
    expect(items).toMatchObject([{ key_id: key, key_name: "gone" }])
  })

  it("are shown to people as soon as they have ended", async () => {
    for (let count = 0; count < 5; count++) {
      const response = await call({ model: "sim/fast" })
      await response.text()
      const id = response.headers.get("x-request-id") ?? ""
      expect((await operator.send("GET", `/api/requests/${id}`)).status).toBe(200)
    }
  })

  it("count against the key, which shows what is left of it", async () => {
    const withKey = sendTo(node.url, { authorization: `Bearer ${testKey}` })
    // without waiting for its settlement, which is written after it
    expect((await call({ model: "auto" })).status).toBe(200)
    const status = await jsonOf<KeyStatusOut>(await withKey("GET", "/v1/key"))
    const data = await get<ActivityDataOut>(`/api/projects/${project}/activity`)
    expect(status).toMatchObject({
      name: "default",
      project_id: project,
      key_prefix: testKey.slice(0, 12),
      spend_limit_microusd: null,
      limit_reset: null,
      spent_microusd: data.by_key[0]?.spend_microusd,
      held_microusd: 0,
      remaining_microusd: null,
      balance_state: "available",
      rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null }
    })
    const setLimit = (limit: number | null) =>
      node.run(Effect.flatMap(Scopes, (scopes) => scopes.setLimit(KeyId.make(status.id), limit)))
    await setLimit(status.spent_microusd + 5)
    expect(await jsonOf<KeyStatusOut>(await withKey("GET", "/v1/key"))).toMatchObject({ remaining_microusd: 5 })
    await setLimit(0)
    expect(await jsonOf<KeyStatusOut>(await withKey("GET", "/v1/key"))).toMatchObject({ remaining_microusd: 0 })
    await setLimit(null)
    expect((await operator.send("GET", "/v1/key")).status).toBe(401)
  })

  it("list what never became a call", async () => {
    expect((await call({ model: "none/such" })).status).toBe(404)
    await node.run(Effect.flatMap(Refusals, ({ flush }) => flush))
    const list = await get<List<RefusalOut>>(`/api/projects/${project}/refusals`)
    expect(list.items).toMatchObject([
      { status: 404, code: "model_not_found", requested_model: "none/such", scope: null, key_name: "default" }
    ])
    expect([list.has_more, list.next_cursor]).toEqual([false, null])
  })

  it("reject questions that have no answer", async () => {
    const activity = `/api/projects/${project}/activity`
    for (const query of ["days=0", "days=367", "days=1.5", "days=x", "granularity=hour&days=32"]) {
      expect([query, ...(await errorOf(`${activity}?${query}`))]).toMatchObject([
        query,
        400,
        expect.stringMatching(/^invalid_/),
        "days"
      ])
    }
    expect(await errorOf(`${activity}?granularity=week`)).toMatchObject([
      400,
      expect.stringMatching(/^invalid_/),
      "granularity"
    ])
    const requests = `/api/projects/${project}/requests`
    for (const [param, value] of [
      ["limit", "0"],
      ["limit", "101"],
      ["cursor", "x"],
      ["status", "fine"],
      ["key", "x"],
      ["from", "yesterday"],
      // a year that no database has
      ["from", "-271821-04-20T00:00:00Z"],
      ["to", "2026-01-31"],
      ["model", "%00"]
    ]) {
      expect([value, ...(await errorOf(`${requests}?${param}=${value}`))]).toMatchObject([
        value,
        400,
        expect.stringMatching(/^invalid_/),
        param
      ])
    }
  })

  it("are the same through the typed client", async () => {
    const client = AccountClient.make({ baseUrl: node.url, token: Redacted.make(operator.token) })
    const path = { id: ProjectId.make(project) }
    const [data, list] = await Effect.runPromise(
      Effect.flatMap(client, ({ activity, requests }) =>
        Effect.all([
          activity.getActivity({ path, urlParams: { days: 2, granularity: "hour" } }),
          requests.listRequests({ path, urlParams: { limit: 1, from: new Date(0) } })
        ])
      ).pipe(Effect.provide(FetchHttpClient.layer))
    )
    expect(data.granularity).toBe("hour")
    expect(list.items).toHaveLength(1)
  })

  it("name the endpoint of each call and refusal", async () => {
    const send = sendTo(node.url, { authorization: `Bearer ${testKey}` })
    const messages = [{ role: "user", content: "Hello." }]
    const paths = { chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" }
    const bodies = { chat: { messages }, responses: { input: "Hello." }, messages: { messages, max_tokens: 9 } }
    const outcomes = []
    for (const endpoint of ["chat", "responses", "messages"] as const) {
      for (const model of ["sim/fast", "sim/none"]) {
        const { headers, status } = await send("POST", paths[endpoint], { model, ...bodies[endpoint] })
        outcomes.push({ endpoint, status, id: headers.get("x-request-id") })
      }
    }
    await flushed()
    await node.run(Effect.flatMap(Refusals, ({ flush }) => flush))
    const calls = await get<List<RequestOut>>(`/api/projects/${project}/requests?limit=100`)
    const refusals = await get<List<RefusalOut>>(`/api/projects/${project}/refusals?limit=100`)
    const listed = new Map([...calls.items, ...refusals.items].map(({ endpoint, id }) => [id, endpoint]))
    expect(outcomes.map(({ endpoint, id, status }) => ({ endpoint, status, listed: listed.get(id ?? "") }))).toEqual(
      (["chat", "responses", "messages"] as const).flatMap((endpoint) =>
        [200, 404].map((status) => ({ endpoint, status, listed: endpoint }))
      )
    )
  })

  describe("exports", () => {
    const count = 1_203
    let person: Person
    let requests: string
    beforeAll(async () => {
      person = await newPerson(node)
      const made = await person.send("POST", "/api/me/projects", { name: "exported" })
      const { id } = (await made.json()) as { readonly id: string }
      requests = `/api/projects/${id}/requests`
      const caller = { accountId: person.accountId, projectId: ProjectId.make(id), keyId: KeyId.make(randomUUID()) }
      await node.run(
        logCalls(
          Array.from({ length: count }, (_, index) => ({
            caller,
            agoSeconds: index,
            costMicroUsd: index,
            ...(index === 0 && { model: '=cmd|" /C calc"!A0/x,y' }),
            ...(index === 1 && { status: "error" as const })
          }))
        )
      )
    })
    const exported = async (accept: string, query = "") => {
      const response = await person.send("GET", `${requests}${query}`, undefined, { accept })
      expect(response.status).toBe(200)
      return [response.headers.get("content-type"), await response.text()] as const
    }

    it("are all calls as NDJSON, in the order and form of the list", async () => {
      const [type, text] = await exported("application/x-ndjson")
      expect(type).toBe("application/x-ndjson")
      const items = text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as RequestOut)
      expect(items.map(({ cost }) => cost.amount_microusd)).toEqual(Array.from({ length: count }, (_, index) => index))
      const list = await jsonOf<List<RequestOut>>(await person.send("GET", `${requests}?limit=3`))
      expect(items.slice(0, 3)).toEqual(list.items)
    })

    it("are CSV that no spreadsheet runs", async () => {
      const [type, text] = await exported("text/csv, */*;q=0.1")
      expect(type).toBe("text/csv; charset=utf-8")
      const lines = text.split("\r\n")
      expect(lines).toHaveLength(count + 2)
      expect(lines[0]).toMatch(/^id,started_at,ended_at,key_id,/)
      expect(lines[1]).toContain(`,"'=cmd|"" /C calc""!A0/x,y",`)
    })

    it("follow the filter", async () => {
      const [, text] = await exported("application/x-ndjson", "?status=error&limit=1")
      expect(text.split("\n")).toHaveLength(2)
      const [, none] = await exported("text/csv", "?status=timeout")
      expect(none.split("\r\n")).toHaveLength(2)
    })

    it("that fail on the way break off, and do not look complete", async () => {
      // the attempts are read with their calls; a portion that cannot be decoded fails
      await node.run(
        Effect.flatMap(
          SqlClient,
          (
            sql
          ) => sql`update call set pool = '{"sim/large",null}' where requested_model = 'auto' and cost_micro_usd = 700
            and project_id = ${requests.split("/")[3] ?? ""}`
        )
      )
      const response = await person.send("GET", requests, undefined, { accept: "application/x-ndjson" })
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow()
    })
  })

  it("say why a call went where it did, and what its key, its text and its savings are found by", async () => {
    const policy = `/api/projects/${project}/policy`
    expect((await operator.send("PUT", policy, { excluded_models: ["sim/deep"], default_alpha: 0.2 })).status).toBe(200)
    const before = await get<SavingsOut>(`/api/projects/${project}/savings?days=1`)
    const response = await call({ model: "auto" })
    const id = response.headers.get("x-request-id") ?? ""
    const { router_metadata: metadata, usage } = await jsonOf<{
      readonly router_metadata: { readonly candidate_pool: unknown; readonly excluded: Record<string, number> }
      readonly usage: object
    }>(response)
    await flushed()
    const found = await get<RequestOut>(`/api/requests/${id}`)
    expect(found).toMatchObject({
      alpha: 0.2,
      excluded: metadata.excluded,
      candidate_pool: metadata.candidate_pool,
      usage
    })
    expect(Object.values(found.excluded ?? {}).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)
    expect(found.held_microusd).toBeGreaterThanOrEqual(found.cost.amount_microusd)
    expect(found.candidate_pool.models).toContain(found.baseline?.model)
    const searched = async (q: string) =>
      (await get<List<RequestOut>>(`/api/projects/${project}/requests?q=${encodeURIComponent(q)}`)).items.map(
        (each) => each.id
      )
    const completion = `chatcmpl-${id.replaceAll("-", "")}`
    for (const q of [id.slice(4, 20).toUpperCase(), completion, found.model ?? ""])
      expect(await searched(q)).toContain(id)
    for (const q of ["%", "no such text", `${id}x`]) expect(await searched(q)).toEqual([])
    const keys = await get<List<{ readonly id: string; readonly last_used_at: string | null }>>(
      `/api/projects/${project}/keys`
    )
    expect(keys.items.find((key) => key.id === found.key_id)?.last_used_at).toBe(found.ended_at)
    const savings = await get<SavingsOut>(`/api/projects/${project}/savings?days=1`)
    expect(savings.count - before.count).toBe(1)
    expect(savings.spend_microusd - before.spend_microusd).toBe(found.cost.amount_microusd)
    expect(savings.baseline_microusd - before.baseline_microusd).toBe(found.baseline?.amount_microusd)
    expect(savings.by_model.map(({ model }) => model)).toContain(found.baseline?.model)
    expect(savings.saved_microusd).toBe(savings.baseline_microusd - savings.spend_microusd)
    expect(await errorOf(`/api/projects/${project}/savings?days=0`)).toEqual([400, "invalid_value", "days"])
    await operator.send("PUT", policy, {})
  })
})
