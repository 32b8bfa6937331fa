import { mkdtemp, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { Capture } from "../../../src/capture/Capture.ts"
import type { CaptureSample } from "../../../src/wire/account/Capture.ts"
import { databaseKinds, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { analysedProject } from "../../support/AnalysisProject.ts"

type Sample = (typeof CaptureSample.Encoded)["sample"]

const answer = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "one",
  content: [{ type: "text", text: "hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, cache_read_input_tokens: 2_000, cache_creation_input_tokens: 500, output_tokens: 5 }
}

describe.each(databaseKinds)("the cache marks of samples on %s", (kind) => {
  const sent: Array<string> = []
  const provider = createServer((request, response) => {
    const body: Array<Buffer> = []
    request.on("data", (bytes: Buffer) => body.push(bytes))
    request.on("end", () => {
      if (request.method === "POST") sent.push(Buffer.concat(body).toString())
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify(request.method === "POST" ? answer : { data: [] }))
    })
  })
  const node = startsNode(kind, async () => {
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve))
    const { port } = provider.address() as AddressInfo
    const config = join(await mkdtemp(join(tmpdir(), "marks-")), "config.json")
    const model = {
      id: "own/one",
      inputPriceMicroUsdPerMillion: 1_000_000,
      outputPriceMicroUsdPerMillion: 5_000_000,
      cacheReadPriceMicroUsdPerMillion: 100_000,
      cacheWritePriceMicroUsdPerMillion: 1_250_000,
      contextTokens: 90_000,
      outputTokens: 1_000
    }
    const own = {
      id: "own",
      vendor: "anthropic",
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKeyEnv: "PROVIDER_KEY",
      models: [model]
    }
    await writeFile(config, JSON.stringify({ providers: [own] }))
    return { GATEWAY_CONFIG: config, PROVIDER_KEY: "sk-x", SIMULATED_PROVIDERS: "on" }
  })
  let owner: Person
  beforeAll(async () => {
    owner = await operatorOf(node)
  })
  afterAll(() => new Promise((resolve) => provider.close(resolve)))

  const projectOf = async (mode: "managed" | "byok") => {
    const project = await analysedProject(node, owner, owner)
    if (mode === "byok") {
      const secret = { label: "ours", provider: "own", secret: "sk-ours-is-long-enough" }
      await project.ask("POST", `/api/projects/${project.id}/credentials`, secret)
      await project.ask("PUT", `/api/projects/${project.id}/billing-mode`, { billing_mode: mode })
    }
    const { api_key } = await project.ask<{ api_key: string }>("POST", `/api/projects/${project.id}/keys`, {
      name: "two"
    })
    const send = sendTo(node.url, { authorization: `Bearer ${api_key}` })
    /** The sample of a call with this content, and the marks that its provider was sent. */
    return async (path: string, part: object, more: object = {}) => {
      sent.length = 0
      const response = await send("POST", path, {
        model: "own/one",
        max_tokens: 100,
        token_doctor: true,
        messages: [{ role: "user", content: [{ type: "text", text: "a question", ...part }] }],
        ...more
      })
      await response.text()
      expect(response.status).toBe(200)
      const id = response.headers.get("x-request-id") ?? response.headers.get("request-id")
      const sample = await vi.waitFor(async () => {
        await node.run(Effect.flatMap(Capture, ({ flushed }) => flushed))
        const read = await owner.send("GET", `/api/capture/samples/${id}`)
        expect(read.status).toBe(200)
        return ((await read.json()) as typeof CaptureSample.Encoded).sample
      }, 10_000)
      return {
        marks: marksOf(sample),
        sample,
        sent: sent.flatMap((body) => body.match(/"cache_control":\{.*?\}/g) ?? [])
      }
    }
  }
  const marksOf = ({ request }: Sample) => [
    request.params["cacheMark"] ?? null,
    ...request.blocks.map((block) => block.cache_mark)
  ]
  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } }

  it("are those that the provider was sent: of a time that it was not, five minutes", async () => {
    const managed = await (await projectOf("managed"))("/v1/messages", hour, hour)
    expect(managed.sent).toEqual(Array(2).fill('"cache_control":{"type":"ephemeral"}'))
    expect(managed.marks).toEqual(["5m", "5m"])
    const own = await (await projectOf("byok"))("/v1/messages", hour, hour)
    expect(own.sent).toEqual(Array(2).fill('"cache_control":{"type":"ephemeral","ttl":"1h"}'))
    expect(own.marks).toEqual(["1h", "1h"])
  })

  it("are none where the provider has no cache that is marked", async () => {
    const ask = await projectOf("managed")
    expect((await ask("/v1/messages", hour, { ...hour, model: "sim/fast" })).marks).toEqual([null, null])
    const breakpoint = { prompt_cache_breakpoint: { type: "ephemeral" } }
    expect((await ask("/v1/chat/completions", breakpoint, { model: "sim/fast" })).marks).toEqual([null, null])
  })

  it("are the breakpoints of a chat completion, which knows no other marks", async () => {
    const ask = await projectOf("managed")
    const unmarked = await ask("/v1/chat/completions", hour)
    expect([unmarked.sent, unmarked.marks]).toEqual([[], [null, null]])
    expect(JSON.stringify(unmarked.sample.request.messages)).not.toContain("cache_control")
    const marked = await ask("/v1/chat/completions", { prompt_cache_breakpoint: { type: "ephemeral" }, ...hour })
    expect([marked.sent, marked.marks]).toEqual([['"cache_control":{"type":"ephemeral"}'], [null, "5m"]])
  })
})
