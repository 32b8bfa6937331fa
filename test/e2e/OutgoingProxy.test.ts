import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { certificate, privateKey } from "../support/Certificate.ts"
import * as HttpProxy from "../support/HttpProxy.ts"
import { type Service, startService } from "../support/Service.ts"

const completion = {
  id: "a",
  object: "chat.completion",
  created: 1,
  model: "large",
  choices: [{ index: 0, message: { role: "assistant", content: "Through the tunnel." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }
}

const provider = (id: string, origin: string) => ({
  id,
  protocol: "openai-chat",
  baseUrl: `${origin}/v1`,
  models: [
    {
      id: `${id}/large`,
      upstreamModel: "large",
      inputPriceMicroUsdPerMillion: 1_000_000,
      outputPriceMicroUsdPerMillion: 2_000_000,
      contextTokens: 100_000,
      outputTokens: 10_000,
      quality: 0.8
    }
  ]
})

describe("a service behind a proxy", () => {
  let folder: string
  let origin: Server
  let proxy: HttpProxy.HttpProxy
  let refusing: HttpProxy.HttpProxy
  let service: Service

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-proxy-"))
    await writeFile(join(folder, "ca.pem"), certificate)
    origin = createServer({ cert: certificate, key: privateKey }, (request, response) => {
      request.resume()
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(request.method === "POST" ? completion : { object: "list", data: [] }))
    })
    origin.listen(0, "127.0.0.1")
    await once(origin, "listening")
    proxy = await HttpProxy.start({ port: (origin.address() as AddressInfo).port })
    refusing = await HttpProxy.start({ port: 1, status: 407 })
    service = await startService({
      env: {
        HTTPS_PROXY: proxy.url,
        HTTP_PROXY: refusing.url.replace("//", "//user:password-of-proxy@"),
        NO_PROXY: "direct.test",
        NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
      },
      config: {
        providers: [
          provider("acme", "https://api.acme.test"),
          provider("direct", "https://direct.test"),
          provider("blocked", "http://blocked.test")
        ]
      }
    })
  }, 60_000)

  afterAll(async () => {
    await service?.stop()
    await proxy?.stop()
    await refusing?.stop()
    origin?.close()
    origin?.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  })

  it("reaches a provider that it cannot reach itself", async () => {
    const answer = await service.client.chat.completions.create({
      model: "acme/large",
      messages: [{ role: "user", content: "Hello" }]
    })
    expect(answer.choices[0]?.message.content).toBe("Through the tunnel.")
    expect(new Set(proxy.tunnels.map(({ authority }) => authority))).toEqual(new Set(["api.acme.test:443"]))
  })

  const codeOf = async (model: string) => {
    const answer = await service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hello" }] })
    const { error } = (await answer.json()) as { readonly error: { readonly code: string } }
    return [answer.status, error.code]
  }

  it("asks the proxy for nothing that NO_PROXY names", async () => {
    expect(await codeOf("direct/large")).toEqual([502, "provider_unreachable"])
    expect(proxy.tunnels.filter(({ authority }) => authority.startsWith("direct"))).toEqual([])
  })

  it("logs that it has proxies, and when one lets nothing through, never a password", async () => {
    expect(await codeOf("blocked/large")).toEqual([502, "provider_unreachable"])
    const output = service.output()
    expect(output).toMatch(/"HTTP_PROXY":"set","HTTPS_PROXY":"set"/)
    expect(output).toMatch(/"NO_PROXY":"direct\.test"/)
    expect(output).toMatch(/proxy-authentication/)
    expect(output).not.toContain("password-of-proxy")
  })
})
