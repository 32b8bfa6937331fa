import { Ajv2020, type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openApiDocument } from "../../../src/http/operations/OpenApiDocument.ts"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import {
  answer,
  byModel,
  event,
  type Handler,
  sse,
  start as startUpstream,
  type Upstream
} from "../../support/Upstream.ts"

const document = JSON.parse(JSON.stringify(openApiDocument())) as AnySchemaObject
const formats = { uuid: true, "date-time": true, uri: true, date: true } as const

/** Unknown keywords and formats are errors. */
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: false, formats })
ajv.addVocabulary(["components", "info", "openapi", "paths", "security", "servers", "tags"])
ajv.addSchema(document, "api")

const compiled = new Map<string, ValidateFunction>()
const validatorAt = (pointer: string): ValidateFunction => {
  const known = compiled.get(pointer)
  if (known !== undefined) return known
  const made = ajv.compile({ $ref: `api#${pointer}` })
  compiled.set(pointer, made)
  return made
}

let checked = 0
const isValid = (pointer: string, value: unknown): void => {
  const validate = validatorAt(pointer)
  checked++
  if (!validate(value)) {
    expect.fail(
      `${pointer}: ${JSON.stringify(validate.errors?.slice(0, 3))} in ${JSON.stringify(value).slice(0, 1_500)}`
    )
  }
}

const framesOf = (text: string) =>
  text.split("\n\n").flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1]
    return data === undefined ? [] : [{ data, event: /^event: (.*)$/m.exec(frame)?.[1] ?? "message" }]
  })

const escaped = (path: string): string => path.replaceAll("~", "~0").replaceAll("/", "~1")
const at = (path: string, method: string): string => `/paths/${escaped(path)}/${method}`
const declared = (pointer: string): AnySchemaObject | undefined =>
  pointer
    .split("/")
    .slice(1)
    .reduce<AnySchemaObject | undefined>(
      (value, key) => value?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      document
    )

/** Headers of node itself, which no document names. */
const transport = new Set(["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"])

/** One answer against what the document declares for its operation: status, headers, body or events. */
const check = async (path: string, method: "get" | "post", response: Response): Promise<number> => {
  const pointer = `${at(path, method)}/responses/${response.status}`
  const operation = declared(pointer)
  expect([path, response.status, operation === undefined]).toEqual([path, response.status, false])
  const headers = Object.keys(operation?.["headers"] ?? {}).map((name) => name.toLowerCase())
  for (const name of response.headers.keys()) {
    if (!transport.has(name))
      expect([path, response.status, headers]).toEqual([path, response.status, expect.arrayContaining([name])])
  }
  const text = await response.text()
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    for (const { data, event } of framesOf(text)) {
      if (data === "[DONE]") continue
      const json = JSON.parse(data) as { type?: unknown }
      if (event !== "message") expect(json.type).toBe(event)
      isValid(`${at(path, method)}/x-event-stream/text~1event-stream/schema`, json)
    }
  } else isValid(`${pointer}/content/application~1json/schema`, JSON.parse(text))
  return response.status
}

const reasoning: Handler = (received, response) => {
  if (!received.stream) {
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        service_tier: "default",
        system_fingerprint: "fp",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              reasoning_content: "hm",
              content: "so",
              refusal: "but no",
              annotations: [
                { type: "url_citation", url_citation: { url: "https://x", title: "x", start_index: 0, end_index: 1 } }
              ]
            },
            logprobs: { content: [{ token: "so", logprob: -1, bytes: null, top_logprobs: [] }] },
            finish_reason: "length"
          }
        ]
      })
    )
    return
  }
  sse(response)
  const deltas: ReadonlyArray<object> = [
    { reasoning_content: "h" },
    { reasoning_content: "m" },
    { content: "so" },
    { refusal: "no" },
    {
      annotations: [
        { type: "url_citation", url_citation: { url: "https://x", title: "x", start_index: 0, end_index: 1 } }
      ]
    },
    { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{" } }] },
    { tool_calls: [{ index: 0, function: { arguments: "}" } }] }
  ]
  for (const delta of deltas) response.write(event({ service_tier: "default", choices: [{ index: 0, delta }] }))
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: "length" }] }))
  response.end("data: [DONE]\n\n")
}

const handler: Handler = (received, response, upstream) => {
  if (received.model === "reasoning") reasoning(received, response, upstream)
  else if (received.model === "long")
    answer(
      received,
      response,
      Array.from({ length: 60 }, (_, n) => `word${n} `)
    )
  else byModel(received, response, upstream)
}

const names = [
  "ok",
  "long",
  "reasoning",
  "tool-call",
  "no-done",
  "status-400",
  "status-401",
  "status-500",
  "status-503",
  "error-first",
  "error-mid",
  "error-200",
  "refuse",
  "too-long",
  "rate-limited",
  "html",
  "malformed-mid",
  "cut-mid",
  "empty",
  "reset"
]

let upstream: Upstream
const gateways: Array<InProcess> = []
const gatewayOf = async (more: object = {}): Promise<InProcess> => {
  const gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    vendors: { one: "openai" },
    models: names.map((name) => model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })),
    ...more
  })
  gateways.push(gateway)
  return gateway
}

beforeAll(async () => {
  upstream = await startUpstream(handler)
})

afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
  await upstream.stop()
})

const messages = [{ role: "user", content: "hi" }]
const endpoints = [
  ["/v1/chat/completions", { messages }, undefined],
  ["/v1/responses", { input: "hi" }, [{ type: "web_search" }, { type: "function", name: "f" }]],
  [
    "/v1/messages",
    { max_tokens: 100, messages },
    [
      { type: "web_search_20250305", name: "web_search" },
      { name: "f", input_schema: { type: "object" } }
    ]
  ]
] as const
const countPath = "/v1/messages/count_tokens"

describe("the OpenAPI document", () => {
  it("has schemas that a strict validator compiles, every one", () => {
    const schemas = Object.keys((document["components"] as AnySchemaObject)["schemas"] as object)
    for (const name of schemas) validatorAt(`/components/schemas/${name}`)
    expect(schemas.length).toBeGreaterThan(100)
    const plain = new Ajv2020({ strict: false, logger: false })
    plain.addSchema(document, "api")
    for (const name of schemas) plain.compile({ $ref: `api#/components/schemas/${name}` })
  })

  it("has examples that are valid requests", () => {
    for (const [path, methods] of Object.entries(document["paths"] as Record<string, AnySchemaObject>)) {
      const content = methods["post"]?.["requestBody"]?.["content"]?.["application/json"]
      for (const { value } of Object.values((content?.["examples"] ?? {}) as Record<string, { value: unknown }>)) {
        isValid(`${at(path, "post")}/requestBody/content/application~1json/schema`, value)
      }
    }
  })

  it("describes every answer, error, event and header of the public endpoints: more than 1,000 of them", {
    timeout: 60_000
  }, async () => {
    const gateway = await gatewayOf()
    const statuses = new Map<number, number>()
    const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
    for (const [path, body, tools] of endpoints) {
      for (const stream of [false, true]) {
        for (const name of names) {
          for (const more of [{}, { stream_options: { include_usage: true } }, { reasoning: { exclude: true } }]) {
            count(
              await check(path, "post", await gateway.post(path, { ...body, ...more, model: `one/${name}`, stream }))
            )
          }
        }
        for (const more of [
          { model: "auto", tools },
          { model: "ok", tools },
          { model: "one/nope" },
          { model: "auto", models: { allow: [] } },
          { model: "auto", routing_config: "nope" },
          { model: "auto", temperature: "warm" },
          { model: "auto", tool_choice: {} },
          { model: 5 },
          { model: "one/ok", reasoning: { effort: "max" } }
        ]) {
          count(await check(path, "post", await gateway.post(path, { ...body, ...more, stream })))
        }
        const headers = {
          authorization: `Bearer ${callerKey}`,
          "content-type": "application/json",
          "idempotency-key": `${path}-${stream}`
        }
        for (let times = 0; times < 2; times++) {
          count(await check(path, "post", await gateway.post(path, { ...body, model: "one/ok", stream }, { headers })))
        }
      }
      count(
        await check(path, "post", await gateway.post(path, body, { headers: { "content-type": "application/json" } }))
      )
    }
    const [, , [, , messageTools]] = endpoints
    for (const more of [{ tools: messageTools }, { model: "one/nope" }, { temperature: "warm" }, { messages: [] }]) {
      const response = await gateway.post(countPath, { model: "one/ok", messages, ...more })
      count(await check(countPath, "post", response))
    }
    const withoutKey = { headers: { "content-type": "application/json" } }
    count(await check(countPath, "post", await gateway.post(countPath, {}, withoutKey)))
    const get = (path: string, headers: object = {}) =>
      fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${callerKey}`, ...headers } })
    for (const headers of [{}, { "anthropic-version": "2023-06-01" }]) {
      for (const more of [headers, { ...headers, authorization: "Bearer no" }]) {
        count(await check("/v1/models", "get", await get("/v1/models", more)))
        for (const id of ["auto", "one/ok", "one%2Fok", "one/nope", "%"]) {
          count(await check("/v1/models/{id}", "get", await get(`/v1/models/${id}`, more)))
        }
      }
    }
    count(
      await check(
        "/v1/route",
        "post",
        await gateway.post("/v1/route", { model: "auto", messages: [{ role: "user", content: "hi" }] })
      )
    )
    for (const grade of [
      { request_id: "nobody's", score: 1 },
      { request_id: crypto.randomUUID(), score: 1 }
    ]) {
      count(await check("/v1/feedback", "post", await gateway.post("/v1/feedback", grade)))
    }

    const poor = await gatewayOf({ creditMicroUsd: 1 })
    const limited = await gatewayOf({
      rateLimits: {
        key: { requestsPerMinute: 1, tokensPerMinute: null, concurrentRequests: null },
        project: { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
      }
    })
    await limited.post("/v1/responses", { input: "hi", model: "one/ok" })
    for (const [path, body] of endpoints) {
      for (const one of [poor, limited])
        count(await check(path, "post", await one.post(path, { ...body, model: "one/ok" })))
    }
    count(await check(countPath, "post", await limited.post(countPath, { model: "one/ok", messages })))
    expect([...statuses.keys()].sort()).toEqual([200, 400, 401, 402, 404, 429, 502])
    expect(checked).toBeGreaterThan(1_000)
  })

  it("GET /v1/models/{id} is the entry of the list, in either shape, its slash encoded or not", async () => {
    const [gateway] = gateways
    const get = async (path: string, headers: object = {}) =>
      (await (
        await fetch(`${gateway?.url}${path}`, { headers: { authorization: `Bearer ${callerKey}`, ...headers } })
      ).json()) as { data: ReadonlyArray<{ id: string }> }
    for (const headers of [{}, { "anthropic-version": "any" }]) {
      const { data } = await get("/v1/models", headers)
      expect(data.length).toBeGreaterThan(names.length)
      for (const entry of data) {
        expect(await get(`/v1/models/${entry.id}`, headers)).toEqual(entry)
        expect(await get(`/v1/models/${encodeURIComponent(entry.id)}?x=1`, headers)).toEqual(entry)
      }
    }
    expect(await get("/v1/models/one/nope")).toMatchObject({ error: { code: "model_not_found", param: "model" } })
    expect(await get("/v1/models/one/nope", { "anthropic-version": "any" })).toMatchObject({ type: "error" })
    expect((await gateway?.client.models.retrieve("one/ok"))?.id).toBe("one/ok")
  })
})
