import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { figure } from "../support/Figures.ts"
import { startService, testKey } from "../support/Service.ts"
import * as Upstreams from "../support/Upstream.ts"
import { naughtyStrings } from "./Corpus.ts"

/** Values that must be nowhere but where they were given. */
const canaries = {
  providerKey: "sk-canary-provider-8f1d2c3b4a59",
  metricsToken: "canary-metrics-token-5512",
  wrongKey: "mrg_sk_CANARYCANARYCANARYCANARYCANARYCA000000",
  cookie: "canary-cookie-9921"
}

/** Says everything that it was told, in each of its failures. */
const gossip: Upstreams.Handler = (received, response) => {
  const told = `${received.headers.authorization} ${JSON.stringify(received.headers)} ${received.text}`
  const message = `Incorrect API key provided: ${told}. See http://user:${canaries.providerKey}@internal.example/`
  const error = { message, type: `x ${canaries.providerKey}`, code: null, param: canaries.providerKey }
  if (received.model === "stream" && received.stream) {
    Upstreams.sse(response)
    response.end(Upstreams.content("first") + Upstreams.event({ error }))
  } else if (received.model === "redirect") {
    response.writeHead(307, { location: `http://127.0.0.1:9/?key=${canaries.providerKey}` }).end()
  } else Upstreams.error(response, Number(received.model) || 500, error, { "x-leak": canaries.providerKey })
}

const names = ["400", "401", "403", "404", "413", "422", "429", "500", "503", "redirect", "stream"]

it("no secret is in any answer, in the log, or in the database", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-canary-"))
  const upstream = await Upstreams.start(gossip)
  const service = await startService({
    dataDir: join(folder, "data"),
    env: {
      GOSSIP_KEY: canaries.providerKey,
      METRICS_TOKEN: canaries.metricsToken,
      LOG_LEVEL: "debug"
    },
    config: {
      providers: [
        {
          id: "gossip",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          apiKeyEnv: "GOSSIP_KEY",
          models: names.map((name) => ({
            id: `gossip/${name}`,
            inputPriceMicroUsdPerMillion: 1,
            outputPriceMicroUsdPerMillion: 1,
            contextTokens: 100_000,
            outputTokens: 1_000
          }))
        }
      ]
    }
  })
  let answers = ""
  const keep = async (response: Response): Promise<void> => {
    answers += JSON.stringify([...response.headers]) + (await response.text())
  }
  const ask = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    service.post(path, body, { cookie: canaries.cookie, ...headers }).then(keep)
  for (const model of names.map((name) => `gossip/${name}`)) {
    for (const stream of [true, false]) {
      await ask("/v1/chat/completions", { model, stream, messages: [{ role: "user", content: "hi" }] })
      await ask("/v1/responses", { model, stream, input: "hi" })
    }
  }
  await ask("/v1/chat/completions", { model: "auto", messages: [{ role: "user", content: "hi" }] })
  await ask("/v1/chat/completions", {}, { authorization: `Bearer ${canaries.wrongKey}` })
  for (const text of naughtyStrings.slice(0, 20)) await ask("/v1/chat/completions", `${text}${canaries.cookie}`)
  for (const path of ["/v1/models", "/metrics", "/readyz", "/openapi.json", "/nowhere"])
    await keep(await service.fetch(path))
  await service.stop()
  await upstream.stop()
  expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${canaries.providerKey}`)

  const files = await filesIn(folder)
  const stored = await Promise.all(files.map((file) => readFile(file, "latin1")))
  const places = {
    answers,
    log: service.output(),
    ...Object.fromEntries(files.map((file, n) => [file, stored[n] ?? ""]))
  }
  const found = Object.entries(places).flatMap(([place, text]) =>
    [...Object.entries(canaries), ["clientKey", testKey] as const]
      .filter(([, secret]) => text.includes(secret) || text.includes(secret.slice(4)))
      .map(([name]) => `${name} in ${place}`)
  )
  await rm(folder, { recursive: true, force: true })
  expect(found).toEqual([])
  figure(
    "bytes searched for secrets",
    Object.values(places).reduce((sum, text) => sum + text.length, 0)
  )
}, 120_000)

const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
