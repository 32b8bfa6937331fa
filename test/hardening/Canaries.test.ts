// Promise: No secret that the service holds or gives out is in its log, answers, metrics, documents, audit rows or database.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { exportDatabase } from "../../src/app/TransferCommand.ts"
import { databaseKinds, openDatabase, type Send, sendTo } from "../support/AccountService.ts"
import { openBrowser } from "../support/Browser.ts"
import { figure } from "../support/Figures.ts"
import { clientSecret, startProvider } from "../support/OpenIdProvider.ts"
import { type Service, startService, testKey } from "../support/Service.ts"
import { answer, start as startUpstream, type Upstream } from "../support/Upstream.ts"

const masterKey = Buffer.alloc(32, "canary of the master key")
const given = {
  providerKey: "sk-canary-of-the-operator-1111",
  projectCredential: "sk-canary-of-the-project-2222",
  stripeKey: "sk_test_canary_5555_5555",
  stripeWebhookSecret: "whsec_canary_6666_6666",
  masterKey: masterKey.toString("base64"),
  masterKeyBytes: masterKey.toString("hex"),
  metricsToken: "canary-metrics-token-7777",
  databasePassword: "canary-database-password-8888",
  projectKey: testKey
}

describe.each(databaseKinds)("no secret is anywhere, on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let folder: string
  let upstream: Upstream
  let env: Record<string, string>
  beforeEach(async () => {
    database = await openDatabase(kind)
    folder = await mkdtemp(join(tmpdir(), "gateway-canaries-"))
    // a provider that quotes what it was sent
    upstream = await startUpstream((received, response) => {
      if (received.model !== "gossip") return answer(received, response, ["Hello"])
      response.writeHead(401, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message: `Incorrect: ${received.headers.authorization}` } }))
    })
    env = {
      ACME: given.providerKey,
      STRIPE_SECRET_KEY: given.stripeKey,
      STRIPE_WEBHOOK_SECRET: given.stripeWebhookSecret,
      GATEWAY_MASTER_KEY: given.masterKey,
      METRICS_TOKEN: given.metricsToken,
      LOG_LEVEL: "all"
    }
    const { DATABASE_URL } = database.env
    if (DATABASE_URL !== undefined) {
      env["DATABASE_URL"] = Object.assign(new URL(DATABASE_URL), { password: given.databasePassword }).href
    }
  }, 60_000)
  afterEach(async () => {
    await upstream.stop()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })

  const start = (more: Readonly<Record<string, string>> = {}): Promise<Service> => {
    const model = (name: string) => ({
      id: `acme/${name}`,
      inputPriceMicroUsdPerMillion: 1,
      outputPriceMicroUsdPerMillion: 1,
      contextTokens: 9_000,
      outputTokens: 1_000
    })
    const provider = { id: "acme", protocol: "openai-chat", baseUrl: upstream.baseUrl, apiKeyEnv: "ACME" }
    return startService({
      env: { ...env, ...more },
      dataDir: join(folder, "data"),
      config: { providers: [{ ...provider, models: ["one", "gossip"].map(model) }] }
    })
  }

  /** What the service answers, but for the answers whose purpose is to give a secret out. */
  const answersOf = () => {
    const kept: Array<string> = []
    const keep = async (response: Response): Promise<Record<string, unknown>> => {
      const text = await response.text()
      kept.push(JSON.stringify([...response.headers]), text)
      try {
        return JSON.parse(text) as Record<string, unknown>
      } catch {
        return {}
      }
    }
    return { kept, keep }
  }

  /** Asks for everything that shows something, and misuses each secret in each place of a request. */
  const probe = async (service: Service, send: Send, secrets: Readonly<Record<string, string>>, keep: KeepResponse) => {
    for (const path of [
      "/api/me",
      "/api/session",
      "/api/sessions",
      "/api/audit?limit=100",
      "/api/me/keys",
      "/api/me/ledger"
    ])
      await keep(await send("GET", path))
    for (const path of ["/openapi.json", "/docs", "/readyz", "/livez", "/metrics"])
      await keep(await service.fetch(path))
    const metrics = await service.fetch("/metrics", { headers: { authorization: `Bearer ${given.metricsToken}` } })
    expect(metrics.status).toBe(200)
    await keep(metrics)
    for (const secret of Object.values(secrets)) {
      const quoted = encodeURIComponent(secret)
      await keep(await service.fetch(`/api/me?token=${quoted}`, { headers: { authorization: `Bearer ${secret}x` } }))
      await keep(await service.fetch(`/api/projects/${quoted}`, { headers: { authorization: `Basic ${quoted}` } }))
      await keep(await service.fetch(`/metrics?token=${quoted}`, { headers: { authorization: `Bearer ${secret}x` } }))
      await keep(
        await service.post(
          "/v1/chat/completions",
          { model: "auto", messages: [] },
          { authorization: `Bearer ${secret}x` }
        )
      )
      await keep(
        await service.fetch("/api/me", { headers: { cookie: `gateway_session_1=${quoted}; token=${quoted}` } })
      )
      await keep(await send("POST", "/api/session", { code: `${secret}x`, transport: "bearer" }))
      await keep(await send("POST", "/webhooks/stripe", "{}", { "stripe-signature": `t=1,v1=${quoted}` }))
    }
  }

  const expectNowhere = async (places: Readonly<Record<string, string>>, secrets: Readonly<Record<string, string>>) => {
    const found: Array<string> = []
    for (const [place, text] of Object.entries(places)) {
      for (const [name, secret] of Object.entries(secrets)) {
        const forms = [
          secret,
          encodeURIComponent(secret),
          ...["hex", "base64", "base64url"].map((form) =>
            Buffer.from(secret)
              .toString(form as BufferEncoding)
              .replace(/=+$/, "")
          )
        ]
        if (forms.some((form) => text.includes(form))) found.push(`${name} in ${place}`)
      }
    }
    expect(found).toEqual([])
    figure(
      `bytes searched for ${Object.keys(secrets).length} secrets`,
      Object.values(places).reduce((sum, text) => sum + text.length, 0)
    )
  }

  /** The service has ended: what is left of it, once as it would be dumped and once as it lies on the disk. */
  const stored = async (): Promise<Readonly<Record<string, string>> & { readonly dump: string }> => {
    const file = join(folder, "dump.ndjson")
    const url = env["DATABASE_URL"]
    await Effect.runPromise(
      exportDatabase(
        { databaseUrl: url === undefined ? null : Redacted.make(url), dataDirectory: join(folder, "data") },
        file
      ).pipe(Effect.provide(NodeFileSystem.layer))
    )
    const dump = await readFile(file, "utf8")
    expect(dump.length).toBeGreaterThan(5_000)
    return { dump, ...(await filesIn(join(folder, "data"))) }
  }

  it("where people sign in by links", async () => {
    const service = await start()
    const { keep, kept } = answersOf()
    const anybody = sendTo(service.url, {})
    const code = /#code=(\S+)/.exec(service.output())?.[1] ?? ""
    const bearer = (await (await anybody("POST", "/api/session", { code, transport: "bearer" })).json()) as {
      token: string
    }
    const owner = sendTo(service.url, { authorization: `Bearer ${bearer.token}` })
    const link = (await (await owner("POST", "/api/session/links")).json()) as { url: string }
    const secondCode = new URL(link.url).hash.slice("#code=".length)
    const cookieSession = await anybody("POST", "/api/session", { code: secondCode, transport: "cookie" })
    const pageToken = ((await cookieSession.json()) as { csrf_token: string }).csrf_token
    const cookie = cookieSession.headers.getSetCookie()[0]?.split(";")[0]?.split("=")[1] ?? ""
    const me = await keep(await owner("GET", "/api/me"))
    const project = `/api/projects/${me["default_project_id"]}`
    const key = (await (await owner("POST", `${project}/keys`, { name: "a key" })).json()) as {
      api_key: string
      id: string
    }
    const rotated = (await (await owner("POST", `/api/keys/${key.id}/rotate`, { grace_seconds: 60 })).json()) as {
      api_key: string
    }
    const alerts = await owner("PUT", `${project}/alerts`, {
      webhook_url: "https://hooks.example.com/",
      thresholds: [{ type: "spend", amount_microusd: 1, period: "day" }]
    })
    const { webhook_secret: alertSecret } = (await alerts.json()) as { webhook_secret: string }
    const credential = { provider: "acme", label: "canary", secret: given.projectCredential }
    const { id } = await keep(await owner("POST", `${project}/credentials`, credential))
    await keep(await owner("PUT", `${project}/billing-mode`, { billing_mode: "byok" }))
    const secrets = {
      ...given,
      code,
      secondCode,
      session: bearer.token,
      cookie,
      pageToken,
      createdKey: key.api_key,
      rotatedKey: rotated.api_key,
      alertSecret
    }
    for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(15)

    const messages = [{ role: "user", content: "hello" }]
    for (const model of ["acme/one", "acme/gossip"]) {
      for (const stream of [true, false])
        await keep(await service.post("/v1/chat/completions", { model, stream, messages }))
    }
    await keep(await owner("POST", `/api/credentials/${id}/verify`))
    await keep(await owner("POST", `${project}/credentials`, { ...credential, secret: `${given.projectCredential} ` }))
    await keep(await owner("POST", `${project}/credentials`, { ...credential, secret: [given.projectCredential] }))
    await keep(await owner("POST", `${project}/credentials`, JSON.stringify(credential).slice(0, -1)))
    await keep(await owner("GET", `${project}/alerts`))
    await keep(await owner("GET", `${project}/requests`))
    const withCookie = sendTo(service.url, { cookie: `gateway_session_${new URL(service.url).port}=${cookie}` })
    await keep(await withCookie("GET", "/api/me", undefined, { "x-csrf-token": pageToken }))
    await keep(await withCookie("GET", "/api/me", undefined, { "x-csrf-token": `${pageToken}x` }))
    await probe(service, owner, secrets, keep)
    const { items } = await keep(await owner("GET", "/api/audit?limit=100"))
    expect(JSON.stringify(items)).toContain("credential.create")
    await service.stop()

    expect(upstream.requests.some(({ headers }) => headers.authorization === `Bearer ${given.projectCredential}`)).toBe(
      true
    )
    // the link at the start is printed for the person who started the service
    const log = service.output().replace(/^.*#code=.*$/m, "")
    expect(log).toContain('"logLevel":"DEBUG"')
    const places = { log, answers: kept.join("\n"), ...(await stored()) }
    // what is no secret is found
    for (const place of ["log", "answers", "dump"] as const) expect(places[place]).toContain("acme")
    await expectNowhere(places, secrets)
  }, 180_000)

  it("where people sign in at an OpenID provider", async () => {
    const provider = await startProvider("127.0.0.1", () => [])
    const service = await start({
      OIDC_ISSUER: provider.url,
      OIDC_CLIENT_ID: "gateway",
      OIDC_CLIENT_SECRET: clientSecret
    })
    provider.serve(service.url)
    const { keep, kept } = answersOf()
    const browser = openBrowser()
    const isDashboard = (url: string) => url.startsWith(`${service.url}/dashboard/`)
    const formOf = (html: string) => /action="([^"]+)"/.exec(html)?.[1] ?? ""
    const login = await browser.follow(`${service.url}/api/session/oidc/start`, isDashboard)
    const flow = browser.cookies.get(`gateway_sign_in_${new URL(service.url).port}`) ?? ""
    const consent = await browser.submit(
      formOf(login.html),
      { prompt: "login", login: "alice", password: "x" },
      isDashboard
    )
    const { url } = await browser.submit(formOf(consent.html), { prompt: "consent" }, isDashboard)
    const pageToken = new URLSearchParams(new URL(url).hash.slice(1)).get("csrf_token") ?? ""
    const name = `gateway_session_${new URL(service.url).port}`
    const cookie = browser.cookies.get(name) ?? ""
    const callback = new URL(browser.visited.find((visited) => visited.includes("/api/session/oidc/callback")) ?? "")
    const secrets = {
      ...given,
      clientSecret,
      pageToken,
      cookie,
      flow,
      code: callback.searchParams.get("code") ?? ""
    }
    for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(15)
    const person = sendTo(service.url, { cookie: `${name}=${cookie}`, "x-csrf-token": pageToken })
    expect(await keep(await person("GET", "/api/me"))).toMatchObject({ user: { subject: "alice" } })
    // the redirect back, again
    await keep(await fetch(callback, { redirect: "manual" }))
    await probe(service, person, secrets, keep)
    await service.stop()
    await provider.stop()
    await expectNowhere({ log: service.output(), answers: kept.join("\n"), ...(await stored()) }, secrets)
  }, 180_000)
})

type KeepResponse = (response: Response) => Promise<Record<string, unknown>>

const filesIn = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, "latin1")] as const))
  )
}
