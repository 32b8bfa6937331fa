import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { NotFound, VersionMismatch } from "../../../src/domain/AccountError.ts"
import { Unauthenticated } from "../../../src/domain/GatewayError.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import * as AccountClient from "../../../src/http/account/AccountClient.ts"
import type { ProjectOut } from "../../../src/wire/account/Projects.ts"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"

type Out = typeof ProjectOut.Encoded

describe.each(databaseKinds)("projects on %s", (kind) => {
  const node = startsNode(kind)
  let operator: Person
  let person: Person
  beforeAll(async () => {
    operator = await operatorOf(node)
    person = await newPerson(node)
  })

  const create = async (owner: Person, name: string, headers?: Readonly<Record<string, string>>) =>
    jsonOf<Out>(await owner.send("POST", "/api/me/projects", { name }, headers))

  /** No more at once than the account API has connections. */
  const refusedWhileDeleted = async (
    id: string,
    requests: ReadonlyArray<readonly [method: string, path: string, body: object]>
  ) =>
    withOpenTransaction(node.env.DATABASE_URL, async (other) => {
      await other.query("update project set deleted_at = now() where id = $1", [id])
      const sent = requests.map(
        async ([method, path, body]) => (await person.send(method, `/api/${path}`, body)).status
      )
      await other.holdsBack(...sent)
      await other.commit()
      expect(await Promise.all(sent)).toEqual(requests.map(() => 404))
    })

  it.skipIf(kind === "embedded")("keep nothing that is set while they are deleted", async () => {
    const { id } = await create(person, "deleted meanwhile")
    await refusedWhileDeleted(id, [
      ["PUT", `projects/${id}/alerts`, { webhook_url: null, thresholds: [{ type: "limit_percent", percent: 80 }] }],
      ["POST", `projects/${id}/credentials`, { provider: "openai", label: "a", secret: "sk-of-a-deleted-project" }],
      ["PUT", `projects/${id}/capture`, { enabled: true, sampling_rate: 1, config_version: 0 }]
    ])
  })

  it.skipIf(kind === "embedded")("keep nothing that is begun while they are deleted", async () => {
    const { id } = await create(person, "deleted meanwhile")
    const { id: conversation } = await jsonOf<{ readonly id: string }>(
      await person.send("POST", "/api/chat/conversations", { project_id: id })
    )
    await refusedWhileDeleted(id, [
      ["POST", `projects/${id}/analyses`, {}],
      ["POST", "chat/conversations", { project_id: id }],
      ["POST", `chat/conversations/${conversation}/fork`, {}]
    ])
  })

  const count = () =>
    node.run(
      Effect.flatMap(SqlClient, (sql) => Effect.map(sql`select count(*)::int as n from project`, ([row]) => row))
    )

  it("show who asks, with their rights and default project", async () => {
    const me = await jsonOf<Record<string, unknown>>(await operator.send("GET", "/api/me"))
    expect(me).toMatchObject({
      user: { id: operator.userId, name: "owner", issuer: null, subject: null },
      accounts: [{ id: operator.accountId, role: "owner" }],
      roles: ["operator"],
      default_project_id: expect.any(String)
    })
    expect(await jsonOf(await person.send("GET", "/api/me"))).toMatchObject({ roles: [], default_project_id: null })
  })

  it("are created without a limit, listed newest first, renamed, limited and deleted", async () => {
    const owner = await newPerson(node)
    const [one, two, three] = [await create(owner, "one"), await create(owner, "two"), await create(owner, "three")]
    expect(one).toMatchObject({ account_id: owner.accountId, role: "owner", spend_limit_microusd: null })
    expect(one.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const page = await jsonOf<{ readonly items: ReadonlyArray<Out>; readonly next_cursor: string }>(
      await owner.send("GET", "/api/me/projects?limit=2")
    )
    expect(page.items.map(({ id }) => id)).toEqual([three.id, two.id])
    expect(await jsonOf(await owner.send("GET", `/api/me/projects?limit=2&cursor=${page.next_cursor}`))).toMatchObject({
      items: [{ id: one.id }],
      has_more: false,
      next_cursor: null
    })

    const changed = await owner.send("PATCH", `/api/projects/${one.id}`, { name: "first", spend_limit_microusd: 5 })
    expect([changed.status, await jsonOf(changed)]).toEqual([
      200,
      { ...one, name: "first", spend_limit_microusd: 5, updated_at: expect.any(String) }
    ])
    const lifted = await owner.send("PATCH", `/api/projects/${one.id}`, { spend_limit_microusd: null })
    expect(await jsonOf(lifted)).toMatchObject({ name: "first", spend_limit_microusd: null })

    expect((await owner.send("DELETE", `/api/projects/${one.id}`)).status).toBe(204)
    expect(await errorOf(await owner.send("GET", `/api/projects/${one.id}`))).toEqual([404, "not_found", null])
    expect(await errorOf(await owner.send("DELETE", `/api/projects/${one.id}`))).toEqual([404, "not_found", null])
  })

  it("refuse a change that is meant for another version", async () => {
    const { id } = await create(person, "versions")
    const read = await person.send("GET", `/api/projects/${id}`)
    const tag = read.headers.get("etag") ?? ""
    const change = (ifMatch: string, name: string) =>
      person.send("PATCH", `/api/projects/${id}`, { name }, { "if-match": ifMatch })
    const first = await change(tag, "a")
    expect([first.status, first.headers.get("etag") === tag]).toEqual([200, false])
    expect(await errorOf(await change(tag, "b"))).toEqual([412, "version_mismatch", null])
    expect((await change(`"x", ${first.headers.get("etag")}`, "c")).status).toBe(200)
    expect((await change("*", "d")).status).toBe(200)
  })

  it("have a tag of their own in every version, also where two were written at the same time", async () => {
    const { id } = await create(person, "one")
    const tags = new Set<string | null>()
    const tagNow = async () => {
      await node.run(
        Effect.flatMap(SqlClient, (sql) => sql`update project set updated_at = to_timestamp(0) where id = ${id}`)
      )
      tags.add((await person.send("GET", `/api/projects/${id}`)).headers.get("etag"))
    }
    await tagNow()
    const changes = [
      { name: "two" },
      { spend_limit_microusd: 5 },
      { limit_reset: "day" },
      { rate_limits: { requests_per_minute: 1 } },
      { rate_limits: { requests_per_minute: 2 } }
    ]
    for (const change of changes) {
      expect((await person.send("PATCH", `/api/projects/${id}`, change)).status).toBe(200)
      await tagNow()
    }
    await node.run(Effect.flatMap(SqlClient, (sql) => sql`update project set billing_mode = 'byok' where id = ${id}`))
    await tagNow()
    expect(tags.size).toBe(changes.length + 2)
  })

  it("are not deleted while a key is active, and never the configured one", async () => {
    const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
      await operator.send("GET", "/api/me")
    )
    expect(await errorOf(await operator.send("DELETE", `/api/projects/${default_project_id}`))).toEqual([
      409,
      "managed_by_configuration",
      null
    ])
    const { id } = await create(person, "with a key")
    const setKey = (active: boolean) =>
      node.run(
        Effect.flatMap(
          SqlClient,
          (sql) => sql`
            insert into api_key (id, hash, key_prefix, name, project_id, is_active)
            values (${id}, decode(${id.replaceAll("-", "").repeat(2)}, 'hex'), 'mrg_sk_xxxxx', 'key', ${id}, ${active})
            on conflict (id) do update set is_active = excluded.is_active`
        )
      )
    await setKey(true)
    expect(await errorOf(await person.send("DELETE", `/api/projects/${id}`))).toEqual([409, "project_not_empty", null])
    await setKey(false)
    expect((await person.send("DELETE", `/api/projects/${id}`)).status).toBe(204)
  })

  it("are created once for an Idempotency-Key, however often and on how many connections it is sent", async () => {
    const key = { "idempotency-key": "the same request" }
    const before = await count()
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => person.send("POST", "/api/me/projects", { name: "once" }, key))
    )
    const created = answers.filter(({ status }) => status === 201)
    for (const busy of answers.filter(({ status }) => status !== 201)) {
      expect(await errorOf(busy)).toEqual([409, "idempotency_key_in_progress", null])
    }
    const again = await person.send("POST", "/api/me/projects", { name: "once" }, key)
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"])
    const bodies = await Promise.all([...created, again].map((one) => jsonOf<Out>(one)))
    expect(new Set(bodies.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(await count()).toEqual({ n: (before as { readonly n: number }).n + 1 })
    expect(await errorOf(await person.send("POST", "/api/me/projects", { name: "other" }, key))).toEqual([
      400,
      "idempotency_key_reused",
      null
    ])
    // the key is one person's own
    const stranger = await newPerson(node)
    expect((await stranger.send("POST", "/api/me/projects", { name: "once" }, key)).status).toBe(201)
  })

  it("reject what is no valid request, with the path of the field", async () => {
    const post = async (body: unknown, headers?: Readonly<Record<string, string>>) =>
      errorOf(await person.send("POST", "/api/me/projects", body, headers))
    expect(await post({})).toEqual([400, "missing_required_parameter", "name"])
    expect(await post({ name: "x", names: 1 })).toEqual([400, "unsupported_parameter", "names"])
    expect(await post({ name: 1 })).toEqual([400, "invalid_type", "name"])
    expect(await post({ name: "" })).toEqual([400, "invalid_value", "name"])
    expect(await post('{"name":')).toEqual([400, "invalid_json", null])
    expect(await post({ name: "x" }, { "content-type": "text/plain" })).toEqual([400, "unsupported_content_type", null])
    expect(await post({ name: "x".repeat(1024 * 1024) })).toEqual([400, "request_too_large", null])
    expect(await post({ name: "x" }, { "idempotency-key": " " })).toEqual([400, "invalid_value", "idempotency-key"])
    const explained = async (method: string, path: string, body?: unknown) => {
      const { error } = (await (await person.send(method, path, body)).json()) as {
        readonly error: { readonly code: string; readonly message: string }
      }
      return [error.code, error.message]
    }
    const { default_project_id: own } = (await (await person.send("GET", "/api/me")).json()) as {
      readonly default_project_id: string
    }
    expect(await explained("GET", `/api/projects/${own}/requests?status=fine`)).toEqual([
      "invalid_value",
      `Invalid value for 'status': Expected "success", "error", "timeout" or "cancelled".`
    ])
    expect(await explained("GET", "/api/projects/default")).toEqual([
      "invalid_value",
      "Invalid value for 'id': Expected a UUID, such as 0198c0de-5a3b-7c21-9d4e-6f0123456789."
    ])
    expect(await explained("GET", "/api/requests/abc")).toEqual([
      "invalid_value",
      "Invalid value for 'id': Expected a request id: the header 'x-request-id' of a response, or its 'id' (chatcmpl-…, resp_…, msg_…)."
    ])
    expect(await explained("PATCH", `/api/projects/${own}`, { name: "" })).toEqual([
      "invalid_value",
      "Invalid value for 'name': Expected 1 to 200 characters."
    ])
    expect(await explained("POST", `/api/projects/${own}/keys`, [])).toEqual([
      "invalid_type",
      "Invalid value for the request: Expected an object."
    ])
    expect(await explained("PUT", `/api/projects/${own}/policy`, { allowed_models: "sim/*" })).toEqual([
      "invalid_type",
      "Invalid value for 'allowed_models': Expected an array or null."
    ])
    expect(await explained("PUT", `/api/projects/${own}/alerts`, { webhook_url: null, thresholds: {} })).toEqual([
      "invalid_type",
      "Invalid value for 'thresholds': Expected an array."
    ])
    expect(
      await explained("PUT", `/api/projects/${own}/alerts`, { webhook_url: null, thresholds: [{ type: "x" }] })
    ).toEqual(["invalid_value", `Invalid value for 'thresholds[0].type': Expected "limit_percent" or "spend".`])
    expect(await explained("POST", `/api/projects/${own}/capture/erase`, { target: "all" })).toEqual([
      "invalid_value",
      `Invalid value for 'target': Expected "key", "end_user", "conversation" or "project".`
    ])
    const unknown = await explained("POST", "/api/me/projects", { name: "x", names: 1 })
    expect(unknown).toEqual(["unsupported_parameter", "Unsupported parameter: 'names'. Known parameters: name."])
    const limited = (limit: string) =>
      explained("POST", `/api/projects/${own}/keys`, `{"name":"x","spend_limit_microusd":${limit}}`)
    expect(await limited('"5"')).toEqual([
      "invalid_type",
      "Invalid value for 'spend_limit_microusd': Expected number or null."
    ])
    expect(await limited("9007199254740992")).toEqual([
      "invalid_value",
      "Invalid value for 'spend_limit_microusd': Expected a number between -9007199254740991 and 9007199254740991."
    ])
    expect(await errorOf(await person.send("GET", "/api/me/projects?limit=101"))).toEqual([
      400,
      "invalid_value",
      "limit"
    ])
    expect(await errorOf(await person.send("GET", "/api/me/projects?cursor=x"))).toEqual([
      400,
      "invalid_value",
      "cursor"
    ])
    expect(await errorOf(await person.send("GET", "/api/projects/x"))).toEqual([400, "invalid_value", "id"])
    expect(await errorOf(await person.send("PUT", "/api/me"))).toEqual([400, "method_not_allowed", null])
    expect(await errorOf(await person.send("GET", "/api/nothing"))).toEqual([404, "unknown_path", null])
    for (const path of ["/api/projects/%", "/api/projects/%ff/keys", "/content/images/100%"]) {
      expect(await errorOf(await person.send("GET", path))).toEqual([404, "unknown_path", null])
    }
  })

  it("leave a chain of audit rows, without secrets", async () => {
    const owner = await newPerson(node)
    const { id } = await create(owner, "audited")
    await owner.send("PATCH", `/api/projects/${id}`, { spend_limit_microusd: 7 })
    await owner.send("DELETE", `/api/projects/${id}`)
    const rows = await node.run(Effect.flatMap(AuditStore, (store) => store.chain(owner.accountId, 0, 10)))
    expect(rows.map(({ action, after, before, position }) => [position, action, before, after])).toEqual([
      [1, "session.create", null, '{"transport":"bearer"}'],
      [
        2,
        "project.create",
        null,
        '{"name":"audited","spend_limit_microusd":null,"limit_reset":null,"rate_limits":null}'
      ],
      [
        3,
        "project.update",
        '{"name":"audited","spend_limit_microusd":null,"limit_reset":null,"rate_limits":null}',
        '{"name":"audited","spend_limit_microusd":7,"limit_reset":null,"rate_limits":null}'
      ],
      [4, "project.delete", '{"name":"audited","spend_limit_microusd":7,"limit_reset":null,"rate_limits":null}', null]
    ])
    expect(rows.map(({ actorUserId }) => actorUserId)).toEqual([1, 2, 3, 4].map(() => owner.userId))
    expect(JSON.stringify(rows)).not.toContain(owner.token)
  })

  it("are used by the typed client, with typed errors", async () => {
    const id = ProjectId.make((await create(person, "typed")).id)
    const program = Effect.gen(function* () {
      const client = yield* AccountClient.make({ baseUrl: node.url, token: Redacted.make(person.token) })
      const read = yield* client.projects.getProject({ path: { id } })
      const foreign = yield* Effect.flip(client.projects.getProject({ path: { id: ProjectId.make(person.userId) } }))
      const mismatch = yield* Effect.flip(
        client.projects.updateProject({ path: { id }, headers: { "if-match": '"x"' }, payload: { name: "y" } })
      )
      const create = (name: string) =>
        client.projects.createMyProject({ headers: { "idempotency-key": "typed" }, payload: { name } })
      yield* create("one")
      const invalid = yield* Effect.flip(create("two"))
      const page = yield* client.projects.listMyProjects({ urlParams: { limit: 1, cursor: id } })
      const nobody = yield* AccountClient.make({ baseUrl: node.url })
      return { read, foreign, mismatch, invalid, page, unauthenticated: yield* Effect.flip(nobody.projects.getMe()) }
    })
    const found = await Effect.runPromise(Effect.provide(program, FetchHttpClient.layer))
    expect(found.read).toMatchObject({ id, name: "typed", created_at: expect.any(Date) })
    expect(found.foreign).toEqual(new NotFound({ message: "Project not found." }))
    expect(found.mismatch).toBeInstanceOf(VersionMismatch)
    expect(found.unauthenticated).toEqual(new Unauthenticated())
    expect(found.invalid).toMatchObject({ _tag: "InvalidRequest", code: "idempotency_key_reused" })
    expect(found.page.items.length).toBe(1)
  })
})
