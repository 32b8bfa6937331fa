import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    vendors: { one: "openai" },
    models: ["ok", "status-500"].map((name) =>
      model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })
    )
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const post = (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json", ...headers },
    body
  })

const sent = async (body: string) => {
  const response = await post("/v1/chat/completions", body)
  expect([response.status, response.ok ? "" : await response.text()]).toEqual([200, ""])
  return upstream.requests.at(-1)?.text ?? ""
}

const messages = '"messages":[{"role":"user","content":"hi"}]'
const max = "9223372036854775807"

describe("an integer of 64 bits", () => {
  it("reaches the provider with every digit, as a seed and inside of tools", async () => {
    for (const seed of [max, "-9223372036854775808", "9007199254740993"]) {
      expect(await sent(`{"model":"one/ok",${messages},"seed":${seed}}`)).toContain(`"seed":${seed},`)
    }
    const tools = `[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"type":"integer","maximum":${max}}}}}}]`
    expect(await sent(`{"model":"one/ok",${messages},"tools":${tools}}`)).toContain(`"maximum":${max}`)
  })

  it("is taken as a cap, which is never above the model's own", async () => {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const text = await sent(`{"model":"one/ok",${messages},"${name}":${max}}`)
      expect(Number(/"max_completion_tokens":(\d+)/.exec(text)?.[1])).toBeLessThan(1_000_000)
    }
    const response = await post("/v1/responses", `{"model":"one/ok","input":"hi","max_output_tokens":${max}}`)
    expect(response.status).toBe(200)
  })

  it("of any size is taken as a bound, since it is an integer of at least that", async () => {
    for (const value of ["18446744073709551615", "1e30"]) {
      for (const name of ["max_tokens", "max_input_price_microusd_per_million", "max_cost_microusd"]) {
        await sent(`{"model":"one/ok",${messages},"${name}":${value}}`)
      }
      const response = await post("/v1/messages", `{"model":"one/ok",${messages},"max_tokens":${value}}`)
      expect(response.status).toBe(200)
    }
  })

  it("is repeated by Responses in the tools of the answer", async () => {
    const tools = `[{"type":"function","name":"f","parameters":{"type":"object","maximum":${max}}}]`
    for (const stream of [false, true]) {
      const response = await post(
        "/v1/responses",
        `{"model":"one/ok","input":"hi","stream":${stream},"tools":${tools}}`
      )
      expect(await response.text()).toContain(`"maximum":${max}`)
    }
  })

  it("of more than 64 bits is refused, and the message says so", async () => {
    const response = await post("/v1/chat/completions", `{"model":"one/ok",${messages},"seed":9223372036854775808}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        param: "seed",
        message: "Invalid value for 'seed': expected an integer of at most 64 bits."
      }
    })
  })
})

describe("X-Service-Dropped-Tools", () => {
  const header = (response: Response) => response.headers.get("x-service-dropped-tools")
  const tools = [{ type: "web_search" }, { type: "function", name: "f" }, { type: "web_search_preview" }]
  const request = (name: string, more: object = {}) =>
    JSON.stringify({ model: `one/${name}`, input: "hi", tools, ...more })

  it("stands on every answer of its request: on errors of every kind, and on replays", async () => {
    const named = "web_search, web_search_preview"
    for (const stream of [false, true]) {
      for (const [body, status] of [
        [request("ok", { stream }), 200],
        [request("status-500", { stream }), 502],
        [request("nope", { stream }), 404],
        [request("ok", { stream, temperature: "warm" }), 400],
        [request("ok", { stream, reasoning: { effort: "max" } }), 400]
      ] as const) {
        const response = await post("/v1/responses", body)
        await response.text()
        expect([response.status, header(response)]).toEqual([status, named])
      }
      for (const [name, status] of [
        ["ok", 200],
        ["status-500", 502]
      ] as const) {
        const headers = { "idempotency-key": `dropped-${name}-${stream}` }
        for (const replayed of [null, "true"]) {
          const response = await post("/v1/responses", request(name, { stream }), headers)
          await response.text()
          expect([response.status, response.headers.get("idempotent-replayed"), header(response)]).toEqual([
            status,
            replayed,
            named
          ])
        }
      }
    }
    const without = await post("/v1/responses", JSON.stringify({ model: "one/ok", input: "hi" }))
    expect(header(without)).toBeNull()
  })

  it("stands on every answer of Messages too, and of its count of tokens", async () => {
    const search = { type: "web_search_20250305", name: "web_search" }
    const own = { name: "f", input_schema: { type: "object" } }
    const message = (name: string, more: object = {}) =>
      JSON.stringify({
        model: `one/${name}`,
        max_tokens: 100,
        messages: [{ role: "user", content: "hi" }],
        tools: [search, own, search],
        ...more
      })
    const expectNamed = async (path: string, body: string, status: number, headers = {}) => {
      const response = await post(path, body, headers)
      await response.text()
      expect([path, response.status, header(response)]).toEqual([path, status, search.type])
      return response.headers.get("idempotent-replayed")
    }
    for (const stream of [false, true]) {
      await expectNamed("/v1/messages", message("ok", { stream }), 200)
      await expectNamed("/v1/messages", message("status-500", { stream }), 502)
      await expectNamed("/v1/messages", message("nope", { stream }), 404)
      await expectNamed("/v1/messages", message("ok", { stream, temperature: "warm" }), 400)
      await expectNamed("/v1/messages", message("ok", { stream, max_tokens: 0 }), 400)
      await expectNamed("/v1/messages", message("ok", { stream, messages: [{ role: "robot" }] }), 400)
      await expectNamed("/v1/messages", message("ok", { stream, output_config: { effort: "max" } }), 400)
      const headers = { "idempotency-key": `dropped-messages-${stream}` }
      for (const replayed of [null, "true"]) {
        expect(await expectNamed("/v1/messages", message("ok", { stream }), 200, headers)).toBe(replayed)
      }
    }
    await expectNamed("/v1/messages/count_tokens", message("ok"), 200)
    await expectNamed("/v1/messages/count_tokens", message("nope"), 404)
    await expectNamed("/v1/messages/count_tokens", message("ok", { temperature: "warm" }), 400)
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      // what no header could carry is no web search
      for (const type of ["web_search_日本", "web_search_\r\nx: y"]) {
        const refused = await post(path, message("ok", { tools: [{ type, name: "web_search" }] }))
        expect([refused.status, header(refused)]).toEqual([400, null])
      }
      expect(header(await post(path, message("ok", { tools: [own] })))).toBeNull()
    }
  })
})

describe("an error after the request was decoded", () => {
  const paramOf = async (path: string, body: object) => {
    const response = await post(path, JSON.stringify({ model: "one/ok", ...body }))
    const { error } = (await response.json()) as { error: { param: string } }
    return [response.status, error.param]
  }

  it("names the field as it was sent", async () => {
    const chat = { messages: [{ role: "user", content: "hi" }] }
    expect(await paramOf("/v1/chat/completions", { ...chat, reasoning_effort: "max" })).toEqual([
      400,
      "reasoning_effort"
    ])
    expect(await paramOf("/v1/chat/completions", { ...chat, reasoning: { effort: "max" } })).toEqual([
      400,
      "reasoning.effort"
    ])
    expect(await paramOf("/v1/responses", { input: "hi", reasoning: { effort: "max" } })).toEqual([
      400,
      "reasoning.effort"
    ])
    const file = { type: "input_file", file_url: "https://example.com/a.pdf" }
    expect(
      await paramOf("/v1/responses", { input: [{ role: "user", content: [{ type: "input_text", text: "a" }, file] }] })
    ).toEqual([400, "input[0].content[1].file_url"])
  })

  it("says which provider and model have failed", async () => {
    const response = await post("/v1/chat/completions", `{"model":"one/status-500",${messages}}`)
    expect(await response.json()).toMatchObject({
      error: { message: "one/status-500: The provider reported an error." }
    })
  })
})

describe("a complete chat completion", () => {
  it("has a fingerprint, and no service tier that is not known", async () => {
    const response = await post("/v1/chat/completions", `{"model":"one/ok",${messages}}`)
    const body = (await response.json()) as Record<string, unknown>
    expect(typeof body["system_fingerprint"]).toBe("string")
    expect(body).not.toHaveProperty("service_tier")
  })
})
