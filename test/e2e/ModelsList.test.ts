import Anthropic, { AuthenticationError } from "@anthropic-ai/sdk"
import type OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService, testKey } from "../support/Service.ts"

let service: Service

beforeAll(async () => {
  service = await startService({
    config: {
      policy: { excluded_models: ["sim/best"], max_output_price_microusd_per_million: 8_000_000 },
      routingConfigurations: [
        { slug: "thrifty", models: ["sim/fast", "sim/balanced"], alpha: 0 },
        { slug: "empty", models: ["sim/none"] }
      ]
    }
  })
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
})

const expected = ["auto", "auto:empty", "auto:thrifty", "sim/balanced", "sim/deep", "sim/fast", "sim2/balanced"]

describe("the models list", () => {
  const list = async (): Promise<ReadonlyArray<OpenAI.Model>> => (await service.client.models.list()).data

  it("has auto first, then the routing configurations, then what the project allows", async () => {
    expect((await list()).map((model) => model.id)).toEqual(expected)
  })

  it("names only what can be called: each concrete id answers, what is hidden does not exist", async () => {
    const ask = (model: string) =>
      service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }] })
    for (const id of expected.filter((each) => each !== "auto:empty")) {
      expect([id, (await ask(id)).status]).toEqual([id, 200])
    }
    for (const hidden of ["sim/best", "sim2/deep"]) {
      const response = await ask(hidden)
      expect([hidden, response.status]).toEqual([hidden, 404])
      expect(await response.json()).toMatchObject({ error: { code: "model_not_found" } })
    }
    expect(await (await ask("auto:empty")).json()).toMatchObject({ error: { code: "no_eligible_model" } })
  })

  it("tells prices per token and selectable reasoning, none of the latter for auto", async () => {
    const models = await list()
    const byId = new Map(models.map((model) => [model.id, model]))
    expect(byId.get("auto")).toMatchObject({ pricing: { prompt: "-1", completion: "-1" } })
    expect(byId.get("auto")).not.toHaveProperty("reasoning")
    expect(byId.get("sim/fast")).toMatchObject({
      object: "model",
      owned_by: "sim",
      context_length: 200_000,
      pricing: { prompt: "0.0000001", completion: "0.0000004" }
    })
    expect(byId.get("sim/fast")).not.toHaveProperty("reasoning")
    expect(byId.get("sim/balanced")).toMatchObject({
      reasoning: { mandatory: false, supported_efforts: ["high", "medium", "low", "none"] }
    })
  })

  it("routes auto:<slug> inside its configuration only", async () => {
    const response = await service.post("/v1/chat/completions", {
      model: "auto:thrifty",
      messages: [{ role: "user", content: "hi" }]
    })
    expect(await response.json()).toMatchObject({
      model: "sim/fast",
      router_metadata: {
        requested_model: "auto:thrifty",
        routing_config: "thrifty",
        alpha: 0,
        candidate_pool: { models: ["sim/fast", "sim/balanced"] }
      }
    })
  })

  it("does not change because a provider fails", async () => {
    for (let n = 0; n < 6; n++) {
      await service.post("/v1/chat/completions", {
        model: "sim/unreachable",
        messages: [{ role: "user", content: "hi" }]
      })
    }
    expect((await list()).map((model) => model.id)).toEqual(expected)
  })

  it("needs a key, whatever else is sent", async () => {
    const response = await service.fetch("/v1/models", { headers: { "x-api-key": testKey } })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { type: "authentication_error", code: "invalid_api_key" } })
  })

  it("is only for reading", async () => {
    const response = await service.post("/v1/models", {})
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } })
  })
})

describe("the models list for Anthropic's client", () => {
  it("has the same ids in that client's shape", async () => {
    const client = new Anthropic({ authToken: testKey, apiKey: null, baseURL: service.url, maxRetries: 0 })
    const ids: Array<string> = []
    for await (const model of client.models.list()) {
      expect(model).toMatchObject({ type: "model", display_name: expect.any(String) })
      expect(Number.isNaN(Date.parse(model.created_at))).toBe(false)
      ids.push(model.id)
    }
    expect(ids).toEqual(expected)
  })

  it("comes in pages", async () => {
    const client = new Anthropic({ authToken: testKey, apiKey: null, baseURL: service.url, maxRetries: 0 })
    const first = await client.models.list({ limit: 2 })
    expect([first.data.map((model) => model.id), first.has_more]).toEqual([expected.slice(0, 2), true])
    const second = await first.getNextPage()
    expect(second.data.map((model) => model.id)).toEqual(expected.slice(2, 4))
  })

  it("refuses a wrong key in that client's shape", async () => {
    const client = new Anthropic({ authToken: "wrong", apiKey: null, baseURL: service.url, maxRetries: 0 })
    const failure: unknown = await client.models.list().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AuthenticationError)
    expect(failure).toMatchObject({
      requestID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      error: { type: "error", error: { type: "authentication_error" } }
    })
  })
})
