import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { SealedCredentials } from "../../../src/credentials/SealedCredentials.ts"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import type { BalanceOut } from "../../../src/wire/account/Billing.ts"
import type { CredentialCheckOut, CredentialOut } from "../../../src/wire/account/Credentials.ts"
import {
  type AccountNode,
  databaseKinds,
  openDatabase,
  operatorOf,
  type Person,
  sendTo,
  startNode
} from "../../support/AccountService.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"
import { masterKey, testKey } from "../../support/Service.ts"
import { answer, start as startUpstream, type Upstream } from "../../support/Upstream.ts"

type Out = typeof CredentialOut.Encoded

const operatorSecret = "sk-of-the-operator-0001"
const [good, other, broken] = ["sk-of-the-project-good1", "sk-of-the-project-other", "sk-of-the-project-wrong"]
const limits = {
  inputPriceMicroUsdPerMillion: 1_000_000,
  outputPriceMicroUsdPerMillion: 4_000_000,
  contextTokens: 100_000,
  outputTokens: 4_096
}

/** Rejects one credential, as providers do. */
const startProvider = () =>
  startUpstream(
    (received, response) => {
      if (received.headers.authorization === `Bearer ${broken}`) {
        response.writeHead(401, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: "Incorrect API key", code: "invalid_api_key" } }))
      } else answer(received, response, ["Hello"])
    },
    { handlesGet: true }
  )

describe.each(databaseKinds)("credentials on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let directory: string
  let upstream: Upstream
  let env: Readonly<Record<string, string>>
  let node: AccountNode
  let operator: Person
  let project: string
  beforeAll(async () => {
    database = await openDatabase(kind)
    upstream = await startProvider()
    directory = await mkdtemp(join(tmpdir(), "credentials-"))
    const config = join(directory, "config.json")
    const provider = (id: string, names: ReadonlyArray<string>) => ({
      id,
      protocol: "openai-chat",
      baseUrl: upstream.baseUrl,
      apiKeyEnv: "PROVIDER_KEY",
      models: names.map((name) => ({ id: `${id}/${name}`, ...limits }))
    })
    await writeFile(
      config,
      JSON.stringify({ providers: [provider("acme", ["large", "small"]), provider("bolt", ["one"])] })
    )
    const onDisk = kind === "embedded" ? { DATA_DIR: join(directory, "data") } : {}
    env = {
      ...database.env,
      ...onDisk,
      GATEWAY_CONFIG: config,
      PROVIDER_KEY: operatorSecret,
      SIMULATED_PROVIDERS: "on"
    }
    node = await startNode(env)
    operator = await operatorOf(node)
    project = (await jsonOf<{ readonly default_project_id: string }>(await operator.send("GET", "/api/me")))
      .default_project_id
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await upstream.stop()
    await database.close()
    await rm(directory, { recursive: true })
  })

  const create = (body: object, headers?: Readonly<Record<string, string>>) =>
    operator.send("POST", `/api/projects/${project}/credentials`, body, headers)
  const mode = (billing_mode: string, headers?: Readonly<Record<string, string>>) =>
    operator.send("PUT", `/api/projects/${project}/billing-mode`, { billing_mode }, headers)
  const chat = (model: string, stream = false) =>
    sendTo(node.url, { authorization: `Bearer ${testKey}` })("POST", "/v1/chat/completions", {
      model,
      stream,
      messages: [{ role: "user", content: "hello" }]
    })
  const sentWith = () => upstream.requests.at(-1)?.headers.authorization
  const balance = async () => {
    await node.run(Effect.flatMap(Ledger, (ledger) => ledger.flushed))
    return jsonOf<typeof BalanceOut.Encoded>(await operator.send("GET", "/api/me/balance"))
  }
  const spentByProject = async () => {
    const read = await operator.send("GET", `/api/projects/${project}`)
    return (await jsonOf<{ readonly total_spent_microusd: number }>(read)).total_spent_microusd
  }

  it.skipIf(kind === "embedded")("keep what was sealed anew while another field of them is changed", async () => {
    const { id } = await jsonOf<Out>(await create({ provider: "bolt", label: "sealed", secret: other }))
    const resealed = Buffer.from("sealed with the current master key")
    await withOpenTransaction(database.env.DATABASE_URL, async (other) => {
      await other.query("update credential set sealed = $1 where id = $2", [resealed, id])
      const sent = operator.send("PATCH", `/api/credentials/${id}`, { label: "another" })
      await other.holdsBack(sent)
      await other.commit()
      expect((await sent).status).toBe(200)
      const rows = await other.query("select label, sealed from credential where id = $1", [id])
      expect(rows).toEqual([{ label: "another", sealed: resealed }])
    })
    expect((await operator.send("DELETE", `/api/credentials/${id}`)).status).toBe(204)
  })

  it("are needed for byok, and calls then use them, at no cost to the balance", async () => {
    expect(await errorOf(await mode("byok"))).toEqual([409, "credential_required", null])
    expect((await chat("acme/small")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${operatorSecret}`)

    const created = await create({ provider: "acme", label: "main", secret: good })
    expect(created.status).toBe(201)
    const credential = await jsonOf<Out>(created)
    expect(credential).toMatchObject({ provider: "acme", masked_secret: "…ood1", allowed_models: null })
    // a credential alone changes nothing
    expect((await chat("acme/small")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${operatorSecret}`)

    expect(await jsonOf(await mode("byok"))).toEqual({ billing_mode: "byok" })
    const [before, spent] = [await balance(), await spentByProject()]
    const plain = await jsonOf<{ readonly router_metadata: { readonly cost: object } }>(await chat("acme/small"))
    expect(sentWith()).toBe(`Bearer ${good}`)
    expect(plain.router_metadata.cost).toMatchObject({ basis: "estimated", amount_microusd: expect.any(Number) })
    const streamed = await chat("acme/large", true)
    expect(await streamed.text()).toContain("[DONE]")
    expect(sentWith()).toBe(`Bearer ${good}`)
    expect(await balance()).toEqual(before)
    expect(await spentByProject()).toBeGreaterThan(spent)
    expect(await node.run(Effect.flatMap(Ledger, (ledger) => ledger.checkInvariants))).toEqual([])
  })

  it("of other providers make a model ineligible, and absent from the list of models", async () => {
    const refused = await chat("bolt/one")
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({
      error: { code: "no_eligible_model", metadata: { excluded: { no_credential: 1 } } }
    })
    const auto = await jsonOf<{ readonly model: string; readonly router_metadata: { readonly excluded: object } }>(
      await chat("auto")
    )
    expect(auto.model).toMatch(/^acme\//)
    expect(auto.router_metadata.excluded).toMatchObject({ no_credential: expect.any(Number) })
    const models = await sendTo(node.url, { authorization: `Bearer ${testKey}` })("GET", "/v1/models")
    const { data } = await jsonOf<{ readonly data: ReadonlyArray<{ readonly id: string }> }>(models)
    expect(data.map(({ id }) => id)).toEqual(["auto", "acme/large", "acme/small"])
  })

  it("are chosen by the models that they allow, and changes take effect immediately", async () => {
    const { items } = await jsonOf<{ readonly items: ReadonlyArray<Out> }>(
      await operator.send("GET", `/api/projects/${project}/credentials`)
    )
    const main = items[0]?.id ?? ""
    const narrowed = await operator.send("PATCH", `/api/credentials/${main}`, { allowed_models: ["acme/large"] })
    expect(await jsonOf(narrowed)).toMatchObject({ allowed_models: ["acme/large"], masked_secret: "…ood1" })
    expect((await chat("acme/small")).status).toBe(404)
    const second = await jsonOf<Out>(await create({ provider: "acme", label: "small", secret: other }))
    expect((await chat("acme/small")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${other}`)
    expect((await chat("acme/large")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${good}`)
    expect((await operator.send("DELETE", `/api/credentials/${second.id}`)).status).toBe(204)
    expect((await operator.send("GET", `/api/credentials/${second.id}`)).status).toBe(404)
    expect((await chat("acme/small")).status).toBe(404)
    expect((await operator.send("PATCH", `/api/credentials/${main}`, { allowed_models: null })).status).toBe(200)
    expect((await chat("acme/small")).status).toBe(200)
  })

  it("are each healthy by themselves: a rejected one neither touches another nor the operator's", async () => {
    const wrong = await jsonOf<Out>(await create({ provider: "bolt", label: "wrong", secret: broken }))
    expect((await chat("bolt/one")).status).toBe(502)
    const calls = upstream.requests.length
    const verified = async (id: string) =>
      jsonOf<typeof CredentialCheckOut.Encoded>(await operator.send("POST", `/api/credentials/${id}/verify`))
    expect(await verified(wrong.id)).toMatchObject({
      status: "rejected",
      model: null,
      error: { code: "credential_rejected" }
    })
    expect(upstream.requests.length).toBe(calls + 1)
    const right = await jsonOf<Out>(await create({ provider: "bolt", label: "right", secret: good }))
    expect(await verified(right.id)).toMatchObject({ status: "accepted", model: null, error: null })
    expect(upstream.requests.at(-1)?.path).toBe("/v1/models")
    // the older one is out for a time
    expect((await chat("bolt/one")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${good}`)
    expect((await mode("managed")).status).toBe(200)
    expect((await chat("bolt/one")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${operatorSecret}`)
  })

  it("are used again at once when a rejected one gets another secret", async () => {
    const made = await operator.send("POST", "/api/me/projects", { name: "of a wrong secret" })
    const { id } = await jsonOf<{ readonly id: string }>(made)
    const key = await operator.send("POST", `/api/projects/${id}/keys`, { name: "a key" })
    const { api_key } = await jsonOf<{ readonly api_key: string }>(key)
    const given = { provider: "acme", label: "ours", secret: broken }
    const wrong = await jsonOf<Out>(await operator.send("POST", `/api/projects/${id}/credentials`, given))
    expect((await operator.send("PUT", `/api/projects/${id}/billing-mode`, { billing_mode: "byok" })).status).toBe(200)
    const asKey = sendTo(node.url, { authorization: `Bearer ${api_key}` })
    const body = { model: "acme/large", messages: [{ role: "user", content: "hello" }] }
    const isOpen = async () => {
      const { candidates } = await jsonOf<{
        readonly candidates: ReadonlyArray<{ readonly health: { readonly open_for_ms: number } }>
      }>(await asKey("POST", "/v1/route", body))
      return candidates.map(({ health }) => health.open_for_ms > 0)
    }
    expect((await asKey("POST", "/v1/chat/completions", body)).status).toBe(502)
    expect(await isOpen()).toEqual([true])
    const patched = await operator.send("PATCH", `/api/credentials/${wrong.id}`, { secret: other })
    expect(patched.status).toBe(200)
    expect(await isOpen()).toEqual([false])
    expect((await asKey("POST", "/v1/chat/completions", body)).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${other}`)
  })

  it("are created once, with a label of their own, for providers of this gateway only", async () => {
    const body = { provider: "acme", label: "unique", secret: good }
    const key = { "idempotency-key": "a credential" }
    const [first, again] = [await create(body, key), await create(body, key)]
    expect([first.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"])
    expect(await jsonOf(first)).toEqual(await jsonOf(again))
    expect(await errorOf(await create({ ...body, secret: other }, key))).toEqual([400, "idempotency_key_reused", null])
    expect(await errorOf(await create(body))).toEqual([409, "already_exists", null])
    for (const provider of ["sim", "https://example.com", "nobody"]) {
      expect(await errorOf(await create({ ...body, provider }))).toEqual([400, "invalid_value", "provider"])
    }
    const spaced = await create({ ...body, secret: "with a space" })
    expect(await spaced.clone().text()).not.toContain("with a space")
    expect(await errorOf(spaced)).toEqual([400, "invalid_value", "secret"])
    expect(await errorOf(await create({ ...body, base_url: "x" }))).toEqual([400, "unsupported_parameter", "base_url"])
  })

  it("are as many as a node can open at once", async () => {
    const { id } = await jsonOf<{ readonly id: string }>(
      await operator.send("POST", "/api/me/projects", { name: "many" })
    )
    const add = (label: string) =>
      operator.send("POST", `/api/projects/${id}/credentials`, { provider: "acme", label, secret: good })
    // two at once have room for one
    const added = await Promise.all(Array.from({ length: 101 }, (_, index) => add(`${index}`)))
    const refused = added.filter(({ status }) => status !== 201)
    expect(await Promise.all(refused.map(errorOf))).toEqual([[400, "invalid_value", null]])
    const page = await jsonOf<{ readonly items: ReadonlyArray<Out> }>(
      await operator.send("GET", `/api/projects/${id}/credentials?limit=100`)
    )
    expect((await operator.send("DELETE", `/api/credentials/${page.items[0]?.id}`)).status).toBe(204)
    expect((await add("again")).status).toBe(201)
  })

  it("and the billing mode are changed only in the version that is meant", async () => {
    const path = `/api/projects/${project}/billing-mode`
    const read = await operator.send("GET", path)
    const stale = read.headers.get("etag") ?? ""
    expect((await mode("byok", { "if-match": stale })).status).toBe(200)
    expect(await errorOf(await mode("managed", { "if-match": stale }))).toEqual([412, "version_mismatch", null])
    expect((await mode("managed")).status).toBe(200)
  })

  it("lose no change to another that is made at the same time", async () => {
    const { etag, id } = await contended("contended")
    const path = `/api/credentials/${id}`
    const numbers = [1, 2, 3, 4, 5, 6]
    const statuses = await Promise.all(
      numbers.map(async (number) => {
        const body = { label: `contended ${number}` }
        return (await operator.send("PATCH", path, body, { "if-match": etag })).status
      })
    )
    expect(statuses.sort()).toEqual([200, 412, 412, 412, 412, 412])

    const changes = [
      { secret: other },
      ...numbers.map((number) => ({ label: `renamed ${number}` })),
      { allowed_models: ["acme/large"] }
    ]
    const answers = await Promise.all(changes.map((change) => operator.send("PATCH", path, change)))
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200))
    expect(await jsonOf(await operator.send("GET", path))).toMatchObject({
      label: expect.stringMatching(/^renamed \d$/),
      masked_secret: `…${other.slice(-4)}`,
      allowed_models: ["acme/large"]
    })
    const removed = await Promise.all(numbers.map(async () => (await operator.send("DELETE", path)).status))
    expect(removed.sort()).toEqual([204, 404, 404, 404, 404, 404])
  })

  it("have a tag of their own in every version, also where two were written at the same time", async () => {
    const { id } = await contended("tagged")
    const path = `/api/credentials/${id}`
    const tag = async () => (await operator.send("GET", path)).headers.get("etag")
    const setTime = (interval: string) =>
      node.run(
        Effect.flatMap(
          SqlClient,
          (sql) =>
            sql`update credential set updated_at = date_trunc('day', now()) + ${interval}::interval where id = ${id}`
        )
      )
    const tags = new Set<string | null>()
    for (const change of [{ label: "tagged anew" }, { allowed_models: ["acme/large"] }, { secret: other }]) {
      await operator.send("PATCH", path, change)
      await setTime("0")
      tags.add(await tag())
    }
    expect(tags.size).toBe(3)
    // a secret with the same end, by a clock that stands still
    await setTime("2 days")
    const before = await tag()
    await operator.send("PATCH", path, { secret: `another-${other}` })
    expect(await tag()).not.toBe(before)
    expect((await operator.send("DELETE", path)).status).toBe(204)
  })

  it("get no label twice, however many are renamed at the same time", async () => {
    const made = await Promise.all(["a", "b", "c", "d", "e"].map((name) => contended(name)))
    const answers = await Promise.all(
      made.map(({ id }) => operator.send("PATCH", `/api/credentials/${id}`, { label: "the same" }))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    await Promise.all(made.map(({ id }) => operator.send("DELETE", `/api/credentials/${id}`)))
  })

  /** A new credential, and the ETag of its first version. */
  const contended = async (label: string) => {
    const { id } = await jsonOf<Out>(await create({ provider: "acme", label, secret: good }))
    const read = await operator.send("GET", `/api/credentials/${id}`)
    return { id, etag: read.headers.get("etag") ?? "" }
  }

  it("open under the previous master key until they are sealed again, and never elsewhere", async () => {
    const next = Buffer.alloc(32, 9).toString("base64")
    await node.stop()
    node = await startNode({ ...env, GATEWAY_MASTER_KEY: next, GATEWAY_MASTER_KEY_PREVIOUS: masterKey })
    operator = await operatorOf(node)
    await mode("byok")
    expect((await chat("acme/small")).status).toBe(200)
    expect(sentWith()).toBe(`Bearer ${good}`)
    const reseal = node.run(Effect.flatMap(SealedCredentials, (credentials) => credentials.reseal))
    expect(await reseal).toMatchObject({ unreadable: 0 })
    await node.stop()
    node = await startNode({ ...env, GATEWAY_MASTER_KEY: next })
    operator = await operatorOf(node)
    expect((await chat("acme/small")).status).toBe(200)
    expect(await node.run(Effect.flatMap(SealedCredentials, (credentials) => credentials.reseal))).toEqual({
      resealed: 0,
      unreadable: 0
    })
    // a sealed value that is copied to another row does not open
    await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`
          update credential c set sealed = o.sealed from credential o where c.provider = 'acme' and o.provider = 'bolt'`
      )
    )
    await node.stop()
    node = await startNode({ ...env, GATEWAY_MASTER_KEY: next })
    expect((await chat("acme/small")).status).toBe(404)
  }, 60_000)

  it("are audited without their secrets", async () => {
    const chain = await node.run(Effect.flatMap(AuditStore, (audit) => audit.chain(operator.accountId, 0, 100)))
    const actions = new Set(chain.map(({ action }) => action))
    for (const action of ["create", "update", "delete"]) expect(actions).toContain(`credential.${action}`)
    expect(actions).toContain("project.billing_mode")
    for (const secret of [good, other, broken]) expect(JSON.stringify(chain)).not.toContain(secret)
  })
})
