import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService } from "../support/Service.ts"

describe("a fresh service", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it("answers the official client, plain and streamed", async () => {
    const plain = await service.client.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: "Say hello." }]
    })
    expect(plain.choices[0]?.message.content).not.toBe("")
    const stream = service.client.chat.completions.stream({
      model: "auto",
      messages: [{ role: "user", content: "Say hello." }]
    })
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).not.toBe("")
  })

  it("shows its reference page and its OpenAPI document", async () => {
    const page = await service.fetch("/docs")
    expect(page.status).toBe(200)
    expect(await page.text()).toContain("swagger")
    const document = (await (await service.fetch("/openapi.json")).json()) as {
      readonly info: { readonly version: string }
    }
    expect(document.info.version).toBe("0.1.0")
  })
})

describe("a service without any provider of its own", () => {
  it("starts with a master key, and says who alone can call", async () => {
    const service = await startService({
      env: { SIMULATED_PROVIDERS: "off", GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") }
    })
    expect((await service.fetch("/readyz")).status).toBe(200)
    expect(service.output()).toContain("only projects with own credentials can call")
    const refused = await service.post("/v1/chat/completions", {
      model: "auto",
      messages: [{ role: "user", content: "Say hello." }]
    })
    expect(refused.status).toBe(404)
    expect(await service.stop()).toBe(0)
  })
})
