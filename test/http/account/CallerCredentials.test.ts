import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { CredentialCheckOut, CredentialOut } from "../../../src/wire/account/Credentials.ts"
import type { CatalogPage } from "../../../src/wire/account/Models.ts"
import { databaseKinds, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"
import { answer, start as startUpstream, type Upstream } from "../../support/Upstream.ts"

const [good, wrong, unlisted, spent] = [
  "sk-good-0000-aaaa",
  "sk-wrong-0000-bbbb",
  "sk-may-not-list-cc",
  "sk-spent-0000-dddd"
]
const secretOf = (headers: Upstream["requests"][number]["headers"]): string =>
  String(headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization?.replace("Bearer ", ""))

/** Providers that say of one credential that it is wrong, of one that it may not list models, and of one that its quota is used up. */
const startProvider = () =>
  startUpstream(
    (received, response) => {
      const secret = secretOf(received.headers)
      const send = (status: number, body: object) => {
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      }
      if (secret === wrong) {
        const message = "API key not valid. Please pass a valid API key."
        if (!received.path.startsWith("/v1beta")) return send(401, { error: { message, type: "authentication_error" } })
        const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
        return send(400, { error: { code: 400, status: "INVALID_ARGUMENT", message, details } })
      }
      if (secret === spent)
        return send(429, { error: { message: "You exceeded your current quota.", code: "insufficient_quota" } })
      if (!received.path.includes("/models")) return answer(received, response, ["Hello"])
      if (secret === unlisted) return send(403, { error: { message: "Missing scopes: api.model.read" } })
      send(200, { data: [] })
    },
    { handlesGet: true }
  )

describe.each(databaseKinds)("credentials of vendors on %s", (kind) => {
  let directory: string
  let upstream: Upstream
  const node = startsNode(kind, async () => {
    upstream = await startProvider()
    directory = await mkdtemp(join(tmpdir(), "vendors-"))
    const provider = (id: string, vendor: string, path: string, apiKeyEnv = "PROVIDER_KEY") => ({
      id,
      vendor,
      baseUrl: upstream.origin + path,
      apiKeyEnv,
      models: [
        {
          id: `${id}/one`,
          inputPriceMicroUsdPerMillion: 1,
          outputPriceMicroUsdPerMillion: 1,
          contextTokens: 9_000,
          outputTokens: 1_000
        }
      ]
    })
    const providers = [
      provider("own-openai", "openai", "/v1"),
      provider("own-anthropic", "anthropic", "/v1"),
      provider("own-google", "google", "/v1beta"),
      provider("own-openrouter", "openrouter", "/v1"),
      provider("of-the-operator", "openai", "/v1", "WRONG_KEY")
    ]
    await writeFile(join(directory, "config.json"), JSON.stringify({ providers }))
    return {
      GATEWAY_CONFIG: join(directory, "config.json"),
      PROVIDER_KEY: "sk-of-the-operator",
      WRONG_KEY: wrong,
      SIMULATED_PROVIDERS: "on"
    }
  })
  let owner: Person
  beforeAll(async () => {
    owner = await operatorOf(node)
  })
  afterAll(async () => {
    await upstream.stop()
    await rm(directory, { recursive: true })
  })

  const newProject = async (name: string) => {
    const { id } = await jsonOf<{ readonly id: string }>(await owner.send("POST", "/api/me/projects", { name }))
    const key = await jsonOf<{ readonly id: string; readonly api_key: string }>(
      await owner.send("POST", `/api/projects/${id}/keys`, { name: "a key" })
    )
    return { id, key, asKey: sendTo(node.url, { authorization: `Bearer ${key.api_key}` }) }
  }
  const give = async (project: string, body: object) => {
    const response = await owner.send("POST", `/api/projects/${project}/credentials`, { label: "ours", ...body })
    expect(response.status).toBe(201)
    return (await jsonOf<typeof CredentialOut.Encoded>(response)).id
  }
  const verify = async (id: string) => {
    const before = upstream.requests.length
    const response = await owner.send("POST", `/api/credentials/${id}/verify`)
    const { model, status } = await jsonOf<typeof CredentialCheckOut.Encoded>(response)
    return [status, model, ...upstream.requests.slice(before).map(({ path }) => path)]
  }

  it.each([
    ["own-openai", "/v1/models", "/v1/chat/completions"],
    ["own-anthropic", "/v1/models?limit=1", "/v1/messages"],
    ["own-google", "/v1beta/models?pageSize=1", "/v1beta/models/one:generateContent"]
  ])("are verified at %s by its list of models, which costs nothing", async (provider, list, question) => {
    const { id } = await newProject(provider)
    const credential = await give(id, { provider, secret: good })
    const change = (secret: string) => owner.send("PATCH", `/api/credentials/${credential}`, { secret })
    expect(await verify(credential)).toEqual(["accepted", null, list])
    expect(secretOf(upstream.requests.at(-1)?.headers ?? {})).toBe(good)
    expect((await change(wrong)).status).toBe(200)
    expect(await verify(credential)).toEqual(["rejected", null, list])
    // one that may not list models may call them
    expect((await change(unlisted)).status).toBe(200)
    const [, model, ...paths] = await verify(credential)
    expect([model, ...paths]).toEqual([`${provider}/one`, list, question])
  })

  it.each([
    [wrong, "The provider has rejected the project's own credential."],
    [spent, "The quota of the project's own credential at the provider is exhausted."]
  ])("are named where a call fails by them: the operator cannot help (%s)", async (secret, message) => {
    const question = { model: "own-openai/one", messages: [{ role: "user", content: "hi" }] }
    const { asKey, id } = await newProject(`with ${secret}`)
    await give(id, { provider: "own-openai", secret })
    const mode = await owner.send("PUT", `/api/projects/${id}/billing-mode`, { billing_mode: "byok" })
    expect(mode.status).toBe(200)
    const failed = await asKey("POST", "/v1/chat/completions", question)
    const error = { code: "provider_unavailable", message: `own-openai/one: ${message}` }
    expect([failed.status, await jsonOf(failed)]).toMatchObject([502, { error }])
  })

  it("are not named where a call fails by the operator's", async () => {
    const { asKey } = await newProject("of the balance")
    const question = { model: "of-the-operator/one", messages: [{ role: "user", content: "hi" }] }
    const failed = await asKey("POST", "/v1/chat/completions", question)
    const error = { code: "provider_unavailable", message: "of-the-operator/one: The provider is not available." }
    expect([failed.status, await jsonOf(failed)]).toMatchObject([502, { error }])
  })

  it("are verified by another question where anybody can read the list", async () => {
    const { id } = await newProject("public list")
    const credential = await give(id, { provider: "own-openrouter", secret: good })
    expect(await verify(credential)).toEqual(["accepted", null, "/v1/key"])
  })

  it("work for a project also where the service has none, and for this project alone", async () => {
    const [one, other] = [await newProject("with a key"), await newProject("without a key")]
    const listed = async ({ asKey }: typeof one) => {
      const { data } = await jsonOf<{ readonly data: ReadonlyArray<{ readonly id: string }> }>(
        await asKey("GET", "/v1/models")
      )
      return new Set(data.map(({ id }) => id.split("/", 1)[0]))
    }
    const catalog = async (query: string) => {
      const page = await jsonOf<typeof CatalogPage.Encoded>(await owner.send("GET", `/api/models?limit=100${query}`))
      return new Set(page.items.map(({ provider }) => provider))
    }
    const preview = async ({ id }: typeof one, model: string) => {
      const body = { model, messages: [{ role: "user", content: "hi" }] }
      const response = await owner.send("POST", `/api/projects/${id}/route`, body)
      const { candidates } = await jsonOf<{ readonly candidates: ReadonlyArray<{ readonly model: string }> }>(response)
      return candidates[0]?.model
    }
    expect(await listed(one)).not.toContain("openai")
    expect(await preview(one, "openai/gpt-5")).toBe(undefined)
    await give(one.id, { provider: "openai", secret: good })
    await give(other.id, { provider: "own-openai", secret: good })
    // the operator pays in managed mode
    expect(await preview(one, "openai/gpt-5")).toBe(undefined)
    for (const { id } of [one, other]) {
      const byok = await owner.send("PUT", `/api/projects/${id}/billing-mode`, { billing_mode: "byok" })
      expect(byok.status).toBe(200)
    }
    expect([await listed(one), await listed(other)]).toEqual([
      new Set(["auto", "openai"]),
      new Set(["auto", "own-openai"])
    ])
    // the catalog of the one project has them, beside those that this gateway can call; that of others and of no project not
    const common = await catalog("")
    expect(common).not.toContain("openai")
    expect(await catalog(`&project_id=${one.id}`)).toEqual(new Set([...common, "openai"]))
    expect(await catalog(`&project_id=${other.id}`)).toEqual(common)
    const unknown = await owner.send("GET", "/api/models?project_id=00000000-0000-7000-8000-000000000000")
    expect(unknown.status).toBe(404)
    expect(await preview(one, "openai/gpt-5")).toBe("openai/gpt-5")
    expect(await preview(one, "auto")).toMatch(/^openai\//)
    expect(await preview(one, "own-openai/one")).toBe(undefined)
    expect(await preview(other, "openai/gpt-5")).toBe(undefined)
    const policy = { allowed_models: ["openai/gpt-5", "anthropic/*", "own-openai/*"] }
    const simulated = await owner.send("POST", `/api/projects/${one.id}/policy/simulate`, policy)
    expect(await jsonOf(simulated)).toMatchObject({ after: { models: ["openai/gpt-5"] }, becomes_empty: [] })
  })

  it("are not taken of vendors that need more than a key", async () => {
    const { id } = await newProject("more than a key")
    for (const provider of ["azure", "google-vertex", "amazon-bedrock"]) {
      const body = { provider, label: "ours", secret: good }
      expect((await owner.send("POST", `/api/projects/${id}/credentials`, body)).status).toBe(400)
    }
  })

  it("are erased with their project, and so is the secret of its webhook", async () => {
    const { id, key } = await newProject("to be deleted")
    await give(id, { provider: "own-openai", secret: good })
    const alerts = {
      thresholds: [{ type: "spend", amount_microusd: 1, period: "day" }],
      webhook_url: "https://example.com/"
    }
    expect((await owner.send("PUT", `/api/projects/${id}/alerts`, alerts)).status).toBe(200)
    const secrets = () =>
      node.run(
        Effect.flatMap(
          SqlClient,
          (sql) => sql<{ readonly count: string }>`
            select (select count(*) from credential where project_id = ${id})
              + (select count(*) from alert where project_id = ${id}) as count`
        )
      )
    expect(await secrets()).toEqual([{ count: "2" }])
    expect((await owner.send("DELETE", `/api/projects/${id}`)).status).toBe(409)
    expect(await secrets()).toEqual([{ count: "2" }])
    expect((await owner.send("DELETE", `/api/keys/${key.id}`)).status).toBe(204)
    expect((await owner.send("DELETE", `/api/projects/${id}`)).status).toBe(204)
    expect(await secrets()).toEqual([{ count: "0" }])
  })
})
