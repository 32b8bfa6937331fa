import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openApiDocument } from "../../src/http/operations/OpenApiDocument.ts"
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
    const document = await (await service.fetch("/openapi.json")).text()
    expect(document).toBe(JSON.stringify(openApiDocument()))
    expect(JSON.parse(document)).toMatchObject({ info: { version: "0.1.0" } })
  })
})

describe("a first start that cannot listen", () => {
  it("prints the key that it has made, since no later start can", async () => {
    const occupied = createServer().listen(0, "127.0.0.1")
    await once(occupied, "listening")
    const dataDir = await mkdtemp(join(tmpdir(), "gateway-start-"))
    const env = { GATEWAY_BOOTSTRAP_KEY: "", PORT: String((occupied.address() as AddressInfo).port) }
    const failed = await startService({ dataDir, env }).then(
      async (service) => `it listens: ${await service.stop()}`,
      (error: Error) => error.message
    )
    occupied.close()
    expect(failed).toContain("is in use by another process")
    const key = /API key \(shown once, keep it\): (\S+)/.exec(failed)?.[1]
    const service = await startService({ dataDir, env: { GATEWAY_BOOTSTRAP_KEY: "" } })
    expect(service.output()).not.toContain("API key")
    const models = await service.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } })
    expect(models.status).toBe(200)
    expect(await service.stop()).toBe(0)
    await rm(dataDir, { recursive: true })
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
