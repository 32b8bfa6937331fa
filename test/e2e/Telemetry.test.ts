import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { startService } from "../support/Service.ts"

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: ReadonlyArray<Attribute>
}
interface Export {
  readonly path: string | undefined
  readonly token: string | undefined
  readonly body: string
}

const traceId = "0af7651916cd43dd8448eb211c80319c"
const parentId = "b7ad6b7169203331"
const body = { model: "sim/fast", messages: [{ role: "user", content: "Say canary-4711." }] }

let collector: Server | undefined
const exports: Array<Export> = []

/** A collector that answers with this status. */
const collect = async (status: () => number): Promise<string> => {
  exports.length = 0
  collector = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      exports.push({
        path: request.url,
        token: request.headers.authorization,
        body: Buffer.concat(chunks).toString("utf8")
      })
      response.writeHead(status()).end("{}")
    })
  })
  await new Promise<void>((resolve) => collector?.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
}

afterEach(() => {
  collector?.closeAllConnections()
  collector?.close()
})

const sentTo = (path: string) => exports.filter((one) => one.path === path)

describe("a service with OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  it("sends the spans of a call in its client's trace, and its metrics, and has sent all when it ends", async () => {
    const endpoint = await collect(() => 200)
    const service = await startService({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20collector-token",
        OTEL_SERVICE_NAME: "gateway of the test"
      }
    })
    const answer = await service.post("/v1/chat/completions", body, { traceparent: `00-${traceId}-${parentId}-01` })
    expect(answer.status).toBe(200)
    await answer.text()
    expect(await service.stop()).toBe(0)

    const traces = sentTo("/v1/traces")
    expect(new Set(traces.map(({ token }) => token))).toEqual(new Set(["Bearer collector-token"]))
    const spans = traces.flatMap((one) =>
      (
        JSON.parse(one.body) as { resourceSpans: ReadonlyArray<{ scopeSpans: ReadonlyArray<{ spans: Array<Span> }> }> }
      ).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    )
    const ofTrace = spans.filter((span) => span.traceId === traceId)
    const call = ofTrace.find(({ name }) => name === "gateway.call")
    expect(call).toMatchObject({ parentSpanId: parentId })
    const attempt = ofTrace.find(({ name }) => name === "chat fast")
    expect(attempt?.attributes).toContainEqual({ key: "gen_ai.request.model", value: { stringValue: "fast" } })
    expect(ofTrace.some(({ parentSpanId }) => parentSpanId === call?.spanId)).toBe(true)

    const metrics = sentTo("/v1/metrics").map((one) => one.body)
    expect(metrics.some((text) => text.includes('"gateway_calls_total"'))).toBe(true)
    const everything = exports.map((one) => one.body).join("")
    expect(everything).toContain("gateway of the test")
    expect(everything).not.toContain("canary-4711")
    expect(everything).not.toContain("collector-token")
  })

  it("serves calls while the collector refuses, and says so once", async () => {
    let status = 400
    const endpoint = await collect(() => status)
    const service = await startService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
    for (let at = 0; at < 3; at++) expect((await service.post("/v1/chat/completions", body)).status).toBe(200)
    await expect.poll(() => sentTo("/v1/metrics").length, { timeout: 20_000 }).toBeGreaterThan(0)
    await expect.poll(() => service.output()).toContain("telemetry is not exported")
    status = 200
    expect(await service.stop()).toBe(0)
    expect(service.output().split("telemetry is not exported")).toHaveLength(2)
    expect(service.output()).toContain("HTTP 400")
  }, 60_000)

  it("says why a collector cannot be reached", async () => {
    const service = await startService({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=collector-token"
      }
    })
    await expect.poll(() => service.output(), { timeout: 20_000 }).toContain("telemetry is not exported")
    expect(await service.stop()).toBe(0)
    expect(service.output()).toContain("ECONNREFUSED")
    expect(service.output()).not.toContain("collector-token")
  }, 60_000)
})
