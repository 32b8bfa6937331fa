import { createHash } from "node:crypto"
import { request } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { inferencePaths, routedPaths } from "../../../src/http/Paths.ts"
import { model } from "../../provider/protocols/calls.ts"
import { type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })]
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const statusFor = (path: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(`${gateway.url}${path}`, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on("error", reject)
      .end()
  })

it.each([...Object.values(inferencePaths), ...Object.values(routedPaths)])(
  "%s, as declared, is served",
  async (path) => {
    const response = await fetch(`${gateway.url}${path}`)
    expect(response.status).not.toBe(404)
    expect(await response.text()).not.toContain("unknown_path")
  }
)

describe("the operator endpoints", () => {
  it.each(["/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/v1/models", "/nothing"])(
    "%s is not to be taken for another type",
    async (path) => {
      const response = await fetch(`${gateway.url}${path}`)
      await response.text()
      expect(response.headers.get("x-content-type-options")).toBe("nosniff")
    }
  )

  it("the metrics without a token are only for who asks this machine by its own name", async () => {
    for (const host of ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"]) {
      expect([host, await statusFor("/metrics", host)]).toEqual([host, 200])
    }
    for (const host of [
      "attacker.example",
      "127.0.0.1.attacker.example",
      "localhost.attacker.example:8080",
      "10.0.0.1"
    ]) {
      expect([host, await statusFor("/metrics", host)]).toEqual([host, 401])
    }
    expect(await statusFor("/livez", "attacker.example")).toBe(200)
  })

  it("the reference page runs its own scripts and nothing else, and cannot be framed", async () => {
    const page = await fetch(`${gateway.url}/docs`)
    const text = await page.text()
    const policy = page.headers.get("content-security-policy") ?? ""
    // one inline script, whose own text names the tag as well
    const script = text.slice(text.indexOf("<script>") + "<script>".length, text.lastIndexOf("</script>"))
    const hash = createHash("sha256").update(script).digest("base64")
    expect(policy).toContain(`; script-src 'sha256-${hash}';`)
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    expect(page.headers.get("x-frame-options")).toBe("DENY")
    expect(page.headers.get("referrer-policy")).toBe("no-referrer")
  })
})

describe("the header that names dropped tools", () => {
  it("is at most 1 KiB, whatever the tools are called", async () => {
    const tools = Array.from({ length: 1_000 }, (_, n) => ({ type: `web_search_preview_2025_03_${n}` }))
    const response = await gateway.post("/v1/responses", { model: "one/ok", input: "hi", tools })
    expect(response.status).toBe(200)
    await response.text()
    const dropped = response.headers.get("x-service-dropped-tools") ?? ""
    expect(dropped.length).toBeLessThanOrEqual(1_024)
    expect(dropped).toMatch(/^web_search_preview_2025_03_0, .*, \.\.\.$/)
  })
})
