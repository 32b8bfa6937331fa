import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, expect, it } from "vitest"
import { CredentialId } from "../../../src/domain/Ids.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { ProviderLayer } from "../../../src/provider/ProviderLayer.ts"
import { Providers } from "../../../src/provider/Providers.ts"
import type { Probed } from "../../../src/provider/probe/Probe.ts"

const secret = "sk-live-0123456789abcdef"

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let answer: Answer = (_, response) => response.destroy()
const asked: Array<Pick<IncomingMessage, "headers" | "method" | "url">> = []
const server = createServer((request, response) => {
  asked.push({ headers: request.headers, method: request.method, url: request.url })
  answer(request, response)
})
beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const json =
  (status: number, body: unknown): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }

const protocols = ["openai-chat", "anthropic-messages", "gemini", "bedrock-converse"] as const
type Protocol = (typeof protocols)[number]

const probe = (
  how: Answer,
  { baseUrl, own, protocol = "openai-chat" }: { protocol?: Protocol; own?: string; baseUrl?: string } = {}
): Promise<Probed | null> => {
  answer = how
  asked.length = 0
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const layer = ProviderLayer({
    own: [{ id: "one", protocol, baseUrl: baseUrl ?? `${origin}/v1`, apiKey: Redacted.make(secret), models: [] }]
  }).pipe(Layer.provide(Timers.layer))
  const credential =
    own === undefined
      ? undefined
      : {
          id: CredentialId.make("01990000-0000-7000-8000-000000000001"),
          providerId: "one",
          secret: Redacted.make(own),
          version: "1",
          allowedModels: null
        }
  return Effect.flatMap(Providers, (providers) => providers.probe("one", credential)).pipe(
    Effect.provide(layer),
    Effect.runPromise
  )
}

it.each([
  ["openai-chat", "/v1/models", "authorization", `Bearer ${secret}`],
  ["anthropic-messages", "/v1/models?limit=1", "x-api-key", secret],
  ["gemini", "/v1/models?pageSize=1", "x-goog-api-key", secret]
] as const)("%s: the list of models is asked for, once, with the credential", async (protocol, url, header, value) => {
  expect(await probe(json(200, { data: [] }), { protocol })).toMatchObject({ status: "accepted", httpStatus: 200 })
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatchObject({ method: "GET", url })
  expect(asked[0]?.headers[header]).toBe(value)
})

it("a credential of a project is sent in place of the provider's own", async () => {
  await probe(json(200, {}), { own: "sk-of-the-project" })
  expect(asked[0]?.headers["authorization"]).toBe("Bearer sk-of-the-project")
})

it.each([
  ["refused", 401, { error: { message: `Incorrect API key provided: ${secret}`, code: "invalid_api_key" } }],
  ["refused", 403, { error: { message: "forbidden" } }],
  ["unknown", 403, { error: { message: "Missing scopes: api.model.read" } }],
  ["quota_exhausted", 429, { error: { message: "no money", type: "insufficient_quota", code: "insufficient_quota" } }],
  ["quota_exhausted", 402, { error: { message: "payment required" } }],
  ["unknown", 429, { error: { message: "slow down" } }],
  ["unknown", 503, { error: { message: "overloaded" } }],
  ["unknown", 404, { error: { message: `no such page for ${secret}` } }]
] as const)("%s: an answer with status %i", async (status, httpStatus, body) => {
  const probed = await probe(json(httpStatus, body))
  expect(probed).toMatchObject({ status, httpStatus })
  expect(probed?.detail).toMatch(/\w/)
  expect(JSON.stringify(probed)).not.toContain(secret)
})

it("Gemini's own refusal of a key, a 400, is a refusal", async () => {
  const body = {
    error: {
      code: 400,
      message: "API key not valid. Please pass a valid API key.",
      status: "INVALID_ARGUMENT",
      details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
    }
  }
  expect(await probe(json(400, body), { protocol: "gemini" })).toMatchObject({ status: "refused", httpStatus: 400 })
})

it("what a wrong base URL answers names the base URL", async () => {
  const page =
    (status: number): Answer =>
    (_, response) => {
      response.writeHead(status, { "content-type": "text/html" }).end("<html>Sign in</html>")
    }
  for (const status of [200, 404, 405]) expect((await probe(page(status)))?.detail).toContain("base URL")
  expect((await probe((_, response) => void response.writeHead(301, { location: "/v2" }).end()))?.detail).toContain(
    "base URL"
  )
})

it("a page in place of a list accepts nothing", async () => {
  const page: Answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>")
  }
  expect(await probe(page)).toMatchObject({ status: "unknown", httpStatus: 200 })
})

it("a closed port, an unknown host and a broken connection are not reachable", async () => {
  expect(await probe(json(200, {}), { baseUrl: "http://127.0.0.1:1/v1" })).toMatchObject({
    status: "unreachable",
    httpStatus: null,
    detail: "not reachable: connection refused"
  })
  expect(await probe(json(200, {}), { baseUrl: "http://nowhere.invalid/v1" })).toMatchObject({ status: "unreachable" })
  expect(await probe((_, response) => response.destroy())).toMatchObject({ status: "unreachable" })
})

it("a server that speaks Bedrock's protocol has nothing that is free to ask for", async () => {
  expect(await probe(json(200, {}), { protocol: "bedrock-converse" })).toBeNull()
  expect(asked).toEqual([])
})
