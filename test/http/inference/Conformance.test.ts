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
