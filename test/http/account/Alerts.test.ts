import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import * as AccountClient from "../../../src/http/account/AccountClient.ts"
import type { AlertsOut } from "../../../src/wire/account/Alerts.ts"
import { databaseKinds, newPerson, type Person, startsNode } from "../../support/AccountService.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"
import { errorOf } from "../../support/Responses.ts"

type Out = typeof AlertsOut.Encoded

const jsonOf = async <A>(response: Response): Promise<A> => {
  expect(response.status).toBe(200)
  return (await response.json()) as A
}

const url = "https://hooks.example.com/services/T0/B0/token"
const monthly = { type: "spend", amount_microusd: 5_000_000, period: "month" } as const
const partOfLimit = { type: "limit_percent", percent: 80 } as const

describe.each(databaseKinds)("alerts over HTTP on %s", (kind) => {
  const node = startsNode(kind)
  let owner: Person
  beforeAll(async () => {
    owner = await newPerson(node)
  })

  const newProject = async () => {
    const created = await owner.send("POST", "/api/me/projects", { name: "watched" })
    return ((await created.json()) as { readonly id: string }).id
  }
  const pathOf = (project: string) => `/api/projects/${project}/alerts`
  const memberOf = async (project: string, role: "member" | "viewer") => {
    const person = await newPerson(node)
    const added = await owner.send("POST", `/api/projects/${project}/members`, { user_id: person.userId, role })
    expect(added.status).toBe(201)
    return person
  }

  it.skipIf(kind === "embedded")("keep a secret that was sealed anew while thresholds are changed", async () => {
    const project = await newProject()
    await jsonOf(await owner.send("PUT", pathOf(project), { webhook_url: url, thresholds: [] }))
    const resealed = Buffer.from("sealed with the current master key")
    await withOpenTransaction(node.env.DATABASE_URL, async (other) => {
      await other.query("update alert set sealed_secret = $1 where project_id = $2", [resealed, project])
      const sent = owner.send("PUT", pathOf(project), { webhook_url: url, thresholds: [monthly] })
      await other.holdsBack(sent)
      await other.commit()
      expect(await jsonOf(await sent)).toMatchObject({ thresholds: [monthly] })
      const rows = await other.query("select sealed_secret as sealed from alert where project_id = $1", [project])
      expect(rows).toEqual([{ sealed: resealed }])
    })
  })

  it("are empty at first, set as a whole, and show a secret once", async () => {
    const path = pathOf(await newProject())
    expect(await jsonOf(await owner.send("GET", path))).toEqual({
      webhook_url: null,
      webhook_secret: null,
      thresholds: [],
      events: []
    })
    const set = await jsonOf<Out>(
      await owner.send("PUT", path, { webhook_url: url, thresholds: [partOfLimit, monthly] })
    )
    expect(set).toEqual({
      webhook_url: url,
      webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      thresholds: [partOfLimit, monthly],
      events: []
    })
    expect(await jsonOf(await owner.send("GET", path))).toEqual({ ...set, webhook_secret: null })

    const secretOf = async (body: object) => (await jsonOf<Out>(await owner.send("PUT", path, body))).webhook_secret
    expect(await secretOf({ webhook_url: url, thresholds: [] })).toBeNull()
    const secrets = [
      set.webhook_secret,
      await secretOf({ webhook_url: url, thresholds: [], rotate_secret: true }),
      await secretOf({ webhook_url: `${url}2`, thresholds: [] })
    ]
    expect(new Set(secrets).size).toBe(3)
    expect(secrets).not.toContain(null)
    expect(await secretOf({ webhook_url: null, thresholds: [monthly] })).toBeNull()
  })

  it("reject URLs that lead inside, thresholds that are none, and unknown fields", async () => {
    const path = pathOf(await newProject())
    const put = async (body: object) =>
      errorOf(await owner.send("PUT", path, { webhook_url: null, thresholds: [], ...body }))
    for (const webhook_url of [
      "http://hooks.example.com/",
      "https://127.0.0.1/",
      "https://[::1]/",
      "https://169.254.169.254/",
      "https://localhost/",
      "nothing"
    ]) {
      expect(await put({ webhook_url })).toEqual([400, "invalid_value", "webhook_url"])
    }
    expect(await put({ allow_loopback: true })).toEqual([400, "unsupported_parameter", "allow_loopback"])
    expect(await put({ thresholds: [{ ...monthly, webhook_url: url }] })).toEqual([
      400,
      "unsupported_parameter",
      "thresholds[0].webhook_url"
    ])
    expect(await put({ thresholds: [monthly, partOfLimit, monthly] })).toEqual([400, "invalid_value", "thresholds[2]"])
    expect((await put({ thresholds: [{ type: "limit_percent", percent: 101 }] })).slice(0, 2)).toEqual([
      400,
      "invalid_value"
    ])
    expect((await put({ thresholds: [{ ...monthly, amount_microusd: 0 }] })).slice(0, 2)).toEqual([
      400,
      "invalid_value"
    ])
    const many = Array.from({ length: 21 }, (_, index) => ({ ...monthly, amount_microusd: index + 1 }))
    expect(await put({ thresholds: many })).toEqual([400, "invalid_value", "thresholds"])
    expect(await jsonOf(await owner.send("GET", path))).toMatchObject({ webhook_url: null, thresholds: [] })
  })

  it("are for members to change; viewers see of the URL only where it leads", async () => {
    const project = await newProject()
    const [member, viewer] = [await memberOf(project, "member"), await memberOf(project, "viewer")]
    const body = { webhook_url: url, thresholds: [monthly] }
    expect(await jsonOf(await member.send("PUT", pathOf(project), body))).toMatchObject(body)
    expect(await jsonOf(await member.send("GET", pathOf(project)))).toMatchObject(body)
    expect(await jsonOf(await viewer.send("GET", pathOf(project)))).toMatchObject({
      webhook_url: "https://hooks.example.com",
      thresholds: [monthly]
    })
    expect((await errorOf(await viewer.send("PUT", pathOf(project), body)))[0]).toBe(403)
  })

  it("refuse a change that is meant for another version", async () => {
    const path = pathOf(await newProject())
    const tag = (await owner.send("GET", path)).headers.get("etag") ?? ""
    const put = (ifMatch: string, rotate_secret: boolean) =>
      owner.send("PUT", path, { webhook_url: url, thresholds: [], rotate_secret }, { "if-match": ifMatch })
    const first = await put(tag, false)
    expect(first.status).toBe(200)
    expect(await errorOf(await put(tag, false))).toEqual([412, "version_mismatch", null])
    const second = await put(first.headers.get("etag") ?? "", true)
    expect(second.status).toBe(200)
    expect((await put(first.headers.get("etag") ?? "", true)).status).toBe(412)
    expect((await owner.send("GET", path)).headers.get("etag")).toBe(second.headers.get("etag"))
  })

  it("are audited without the secret and the path of the URL; neither is stored readably", async () => {
    const project = await newProject()
    const { webhook_secret } = await jsonOf<Out>(
      await owner.send("PUT", pathOf(project), { webhook_url: url, thresholds: [monthly] })
    )
    const rows = await node.run(Effect.flatMap(AuditStore, (store) => store.chain(owner.accountId, 0, 100)))
    const row = rows.find(({ action, targetId }) => action === "alerts.update" && targetId === project)
    expect(row).toMatchObject({ actorUserId: owner.userId, targetKind: "project" })
    expect(JSON.parse(row?.before ?? "")).toEqual({ webhook_origin: null, thresholds: [] })
    expect(JSON.parse(row?.after ?? "")).toEqual({
      webhook_origin: "https://hooks.example.com",
      thresholds: [monthly],
      has_new_secret: true
    })
    const [stored] = await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql<{ readonly sealed: string }>`
          select encode(sealed_secret, 'escape') as sealed from alert where project_id = ${project}`
      )
    )
    expect(stored?.sealed).toBeTypeOf("string")
    expect(stored?.sealed).not.toContain(webhook_secret?.slice("whsec_".length, 20))
  })

  it("are read by the typed client", async () => {
    const project = ProjectId.make(await newProject())
    await owner.send("PUT", pathOf(project), { webhook_url: null, thresholds: [partOfLimit] })
    const client = Effect.provide(
      AccountClient.make({ baseUrl: node.url, token: Redacted.make(owner.token) }),
      FetchHttpClient.layer
    )
    const read = await Effect.runPromise(
      Effect.flatMap(client, ({ alerts }) => alerts.getAlerts({ path: { id: project } }))
    )
    expect(read).toEqual({ webhook_url: null, webhook_secret: null, thresholds: [partOfLimit], events: [] })
  })
})
