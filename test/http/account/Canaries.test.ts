import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type AccountNode,
  databaseKinds,
  newPerson,
  openDatabase,
  operatorOf,
  startNode
} from "../../support/AccountService.ts"
import { testKey } from "../../support/Service.ts"
import { type StripeApi, start as startStripe } from "../../support/StripeApi.ts"
import { answer, start as startUpstream, type Upstream } from "../../support/Upstream.ts"

const canaryKey = Buffer.alloc(32, "canary of the master key").toString("base64")
const secrets = {
  operatorCredential: "sk-canary-of-the-operator-1111",
  projectCredential: "sk-canary-of-the-project-2222",
  replacedCredential: "sk-canary-of-the-project-3333",
  rejectedCredential: "sk-canary-that-is-wrong-4444",
  stripeKey: "sk_test_canary_5555",
  webhookSecret: "whsec_canary_6666_6666",
  masterKey: canaryKey,
  masterKeyBytes: Buffer.from(canaryKey, "base64").toString("hex"),
  projectKey: testKey
}

/** Everything that the process writes while the test runs. */
const captureOutput = () => {
  const lines: Array<string> = []
  const streams = [process.stdout, process.stderr] as const
  const originals = streams.map((stream) => stream.write)
  for (const [at, stream] of streams.entries()) {
    stream.write = (...given: ReadonlyArray<unknown>) => {
      lines.push(String(given[0]))
      return Reflect.apply(originals[at] ?? stream.write, stream, given)
    }
  }
  return {
    lines,
    restore: () => {
      for (const [at, stream] of streams.entries()) stream.write = originals[at] ?? stream.write
    }
  }
}

describe.each(databaseKinds)("secrets on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let directory: string
  let upstream: Upstream
  let stripe: StripeApi
  let node: AccountNode
  const output = captureOutput()
  const answers: Array<string> = []

  beforeAll(async () => {
    database = await openDatabase(kind)
    stripe = await startStripe()
    // the provider quotes the credential that it rejects
    upstream = await startUpstream(
      (received, response) => {
        if (received.headers.authorization !== `Bearer ${secrets.rejectedCredential}`) {
          return answer(received, response, ["Hello"])
        }
        response.writeHead(401, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: `Incorrect API key: ${secrets.rejectedCredential}` } }))
      },
      { handlesGet: true }
    )
    directory = await mkdtemp(join(tmpdir(), "canaries-"))
    const model = {
      id: "acme/one",
      inputPriceMicroUsdPerMillion: 1,
      outputPriceMicroUsdPerMillion: 1,
      contextTokens: 9_000,
      outputTokens: 1_000
    }
    const provider = {
      id: "acme",
      protocol: "openai-chat",
      baseUrl: upstream.baseUrl,
      apiKeyEnv: "ACME",
      models: [model]
    }
    await writeFile(join(directory, "config.json"), JSON.stringify({ providers: [provider] }))
    node = await startNode(
      {
        ...database.env,
        GATEWAY_CONFIG: join(directory, "config.json"),
        ACME: secrets.operatorCredential,
        GATEWAY_MASTER_KEY: secrets.masterKey,
        STRIPE_SECRET_KEY: secrets.stripeKey,
        STRIPE_WEBHOOK_SECRET: secrets.webhookSecret
      },
      stripe.url
    )
  }, 120_000)
  afterAll(async () => {
    output.restore()
    await node.stop()
    await upstream.stop()
    await stripe.stop()
    await database.close()
    await rm(directory, { recursive: true })
  })

  const plainDump = () =>
    node.run(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const tables = yield* sql<{ readonly name: string }>`
          select table_name as name from information_schema.tables where table_schema = 'public'`
        const rows = yield* Effect.forEach(tables, ({ name }) =>
          Effect.map(sql.unsafe(`select to_jsonb(t)::text as row from "${name}" t`), (found) => JSON.stringify(found))
        )
        expect(tables.length).toBeGreaterThan(20)
        return rows.join("\n")
      })
    )

  it("are in no answer, log, metric, document, nor in the tables", async () => {
    const operator = await operatorOf(node)
    const other = await newPerson(node)
    const keep = async (response: Response) => {
      const text = await response.text()
      answers.push(JSON.stringify([...response.headers]), text)
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, string>) }
    }
    const call = async (method: string, path: string, body?: unknown) => keep(await operator.send(method, path, body))
    const chat = async () =>
      keep(
        await fetch(`${node.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "acme/one", messages: [{ role: "user", content: "hello" }] })
        })
      )
    const me = await call("GET", "/api/me")
    const project = `/api/projects/${me.body["default_project_id"]}`
    expect((await chat()).status).toBe(200)
    const made = await call("POST", `${project}/credentials`, {
      provider: "acme",
      label: "canary",
      secret: secrets.replacedCredential
    })
    const credential = `/api/credentials/${made.body["id"]}`
    expect((await call("PATCH", credential, { secret: secrets.projectCredential })).status).toBe(200)
    expect((await call("PUT", `${project}/billing-mode`, { billing_mode: "byok" })).status).toBe(200)
    expect((await chat()).status).toBe(200)
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${secrets.projectCredential}`)
    await call("GET", credential)
    await call("GET", `${project}/credentials`)
    expect((await call("POST", `${credential}/verify`)).body["status"]).toBe("accepted")
    await call("PATCH", credential, { secret: secrets.rejectedCredential })
    expect((await call("POST", `${credential}/verify`)).body["status"]).toBe("rejected")
    expect((await chat()).status).toBe(502)
    // a secret that is not valid, in the wrong place, and of the wrong type
    await call("POST", `${project}/credentials`, {
      provider: "acme",
      label: "x",
      secret: `${secrets.projectCredential} `
    })
    await call("POST", `${project}/credentials`, { provider: "acme", label: "x", secret: [secrets.projectCredential] })
    expect((await call("POST", "/api/me/checkout", { credit_amount_cents: 1_000 })).status).toBe(201)
    stripe.fails = true
    expect((await call("POST", "/api/me/checkout", { credit_amount_cents: 1_000 })).status).toBe(502)
    await keep(
      await fetch(`${node.url}/webhooks/stripe`, {
        method: "POST",
        headers: { "content-type": "application/json", "stripe-signature": "t=1,v1=00" },
        body: "{}"
      })
    )
    await keep(await other.send("GET", credential))
    for (const path of ["/metrics", "/openapi.json", "/readyz"])
      answers.push(await (await fetch(node.url + path)).text())
    expect((await call("DELETE", credential)).status).toBe(204)

    const dump = await plainDump()
    const places = { answers: answers.join("\n"), output: output.lines.join(""), dump }
    const all = { ...secrets, session: operator.token, otherSession: other.token }
    for (const [place, text] of Object.entries(places)) {
      for (const [name, secret] of Object.entries(all)) {
        const hex = Buffer.from(secret).toString("hex")
        expect([place, name, text.includes(secret), text.includes(hex)]).toEqual([place, name, false, false])
      }
    }
    expect(dump).toContain("credential.update")
    expect(answers.length).toBeGreaterThan(30)
  }, 60_000)
})
