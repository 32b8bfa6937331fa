import { APIError, APIUserAbortError } from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService } from "../support/Service.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const beforeContent = [
  ["status-503", "provider_error"],
  ["error-first", "provider_error"],
  ["cut-before", "provider_disconnected"],
  ["malformed", "provider_bad_response"],
  ["hang-content", "provider_timeout"]
] as const

const afterContent = [
  ["error-mid", "provider_error"],
  ["cut-mid", "provider_disconnected"],
  ["end-mid", "provider_disconnected"],
  ["malformed-mid", "provider_bad_response"],
  ["hang-mid", "stream_stalled"]
] as const

const names = ["ok", "held", "endless", ...beforeContent.map(([name]) => name), ...afterContent.map(([name]) => name)]

let upstream: Upstream
let service: Service

beforeAll(async () => {
  upstream = await startUpstream()
  service = await startService({
    env: { SIMULATED_PROVIDERS: "on" },
    config: {
      providers: [
        {
          id: "one",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          models: names.map((name) => ({
            id: `one/${name}`,
            upstreamModel: name,
            inputPriceMicroUsdPerMillion: 1_000_000,
            outputPriceMicroUsdPerMillion: 1_000_000,
            contextTokens: 100_000,
            outputTokens: 4_000
          }))
        }
      ],
      routingConfigurations: [{ slug: "broken", models: ["one/cut-before", "sim/fast"], alpha: 1 }],
      models: { "one/cut-before": { quality: 1 } },
      timeouts: { firstContentMillis: 3_000, idleMillis: 3_000 },
      headHoldMillis: 1_500
    }
  })
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await upstream.stop()
})

interface Frame {
  readonly name: string
  readonly event: {
    readonly type: string
    readonly sequence_number: number
    readonly delta?: string
    readonly code?: string
    readonly error?: { readonly code: string; readonly message: string; readonly type: string; readonly param: null }
    readonly response?: {
      readonly status: string
      readonly usage: unknown
      readonly error: { readonly code: string } | null
      readonly output: ReadonlyArray<{ readonly status: string }>
    }
  }
}

/** A stream to its end, frame by frame as it came. */
const readFrames = async (body: Readonly<Record<string, unknown>>) => {
  const response = await service.post("/v1/responses", { input: "hi", stream: true, ...body })
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"])
  const blocks = (await response.text()).split("\n\n").filter((block) => block !== "" && !block.startsWith(":"))
  const isDone = blocks.at(-1) === "data: [DONE]"
  const frames = (isDone ? blocks.slice(0, -1) : blocks).map((block): Frame => {
    const [, name = "", data = ""] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? []
    return { name, event: JSON.parse(data) }
  })
  expect(frames.map(({ name }) => name)).toEqual(frames.map(({ event }) => event.type))
  expect(frames.map(({ event }) => event.sequence_number)).toEqual(frames.map((_, index) => index))
  return { frames, isDone, types: frames.map(({ name }) => name) }
}

/** How the official client's two ways to stream fail. */
const failures = async (model: string): Promise<ReadonlyArray<unknown>> => {
  const { responses } = service.client
  const failureOf = (call: PromiseLike<unknown>) =>
    Promise.resolve(call).then(
      (value) => value,
      (error: unknown) => error
    )
  const read = async () => {
    for await (const _ of await responses.create({ model, input: "hi", stream: true }));
  }
  return [await failureOf(read()), await failureOf(responses.stream({ model, input: "hi" }).finalResponse())]
}

describe("a streamed response", () => {
  it("has every event in order, and [DONE] after it is completed", async () => {
    const { frames, isDone, types } = await readFrames({ model: "one/ok" })
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed"
    ])
    expect(frames.map(({ event }) => event.delta ?? "").join("")).toBe("Hello from upstream")
    expect(frames.at(-1)?.event.response).toMatchObject({ status: "completed", usage: { total_tokens: 13 } })
    expect(isDone).toBe(true)
  })

  it("is put together again by the official client, with its tool calls", async () => {
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    const stream = service.client.responses.stream({
      model: "sim/fast",
      input: "What is the weather in Rome?",
      tools: [{ type: "function", name: "weather", parameters, strict: false }]
    })
    const { output, status } = await stream.finalResponse()
    expect(status).toBe("completed")
    expect(output).toMatchObject([{ type: "function_call", name: "weather", arguments: '{"city":"Rome"}' }])
  })

  it("that its output cap cuts is incomplete, and ends with [DONE] as well", async () => {
    const { frames, isDone, types } = await readFrames({
      model: "sim/fast",
      input: "count to 100",
      max_output_tokens: 16
    })
    expect(types.at(-1)).toBe("response.incomplete")
    expect(frames.at(-1)?.event.response).toMatchObject({ status: "incomplete", output: [{ status: "incomplete" }] })
    expect(isDone).toBe(true)
  })

  it("falls back before its first content without a trace in the stream", async () => {
    const { frames, isDone, types } = await readFrames({ model: "auto:broken", input: "Say: hello there" })
    expect(types.filter((type) => type === "response.created")).toHaveLength(1)
    expect(frames.map(({ event }) => event.delta ?? "").join("")).toBe("hello there")
    expect(frames.at(-1)?.event.response).toMatchObject({ router_metadata: { fallback: { used: true } } })
    expect(isDone).toBe(true)
  })
})

describe("a provider that fails before its first content", () => {
  it.each(beforeContent.filter(([name]) => name !== "hang-content"))("by %s is a 502", async (name, code) => {
    for (const failure of await failures(`one/${name}`)) {
      if (!(failure instanceof APIError)) throw new Error("no error", { cause: failure })
      expect([failure.status, failure.type, failure.code]).toEqual([502, "provider_error", code])
      expect(failure.headers?.get("x-should-retry")).toBe("false")
    }
  })

  it("later than the head is held is told in a stream of its own", async () => {
    const { frames, isDone, types } = await readFrames({ model: "one/hang-content" })
    expect(types).toEqual(["response.created", "response.in_progress", "error", "response.failed"])
    expect(frames.at(-1)?.event.response).toMatchObject({ status: "failed", output: [] })
    expect(isDone).toBe(false)
    for (const failure of await failures("one/hang-content")) expect(failure).toBeInstanceOf(APIError)
  })
})

describe("a provider that fails after content", () => {
  it.each(afterContent)("by %s ends in both forms of the error, and no [DONE]", async (name, code) => {
    const { frames, isDone, types } = await readFrames({ model: `one/${name}` })
    expect(types.slice(-3)).toEqual(["response.output_text.delta", "error", "response.failed"])
    const [error, failed] = frames.slice(-2).map(({ event }) => event)
    const { message } = error?.error ?? {}
    expect(error).toMatchObject({ code, message, param: null, error: { type: "provider_error", code, param: null } })
    expect(failed?.response).toMatchObject({
      status: "failed",
      error: { code: "server_error", message },
      output: [{ status: "incomplete", content: [{ text: "partial" }] }]
    })
    expect(isDone).toBe(false)
    for (const failure of await failures(`one/${name}`)) {
      expect(failure).toBeInstanceOf(APIError)
      expect(failure).toMatchObject({ code })
    }
  })
})

describe("a client that leaves", () => {
  it.each([
    ["before the head", "one/held"],
    ["in the middle of the stream", "one/endless"]
  ])("%s ends the provider's answer and is counted once as cancelled", async (_, model) => {
    const [calls, cancelled] = [upstream.requests.length, await counted()]
    const leaving = new AbortController()
    const stream = service.client.responses.stream({ model, input: "hi" }, { signal: leaving.signal })
    const ended = stream.finalResponse().catch((error: unknown) => error)
    const call = await upstream.received(calls + 1)
    if (model === "one/endless") await stream.emitted("response.output_text.delta")
    leaving.abort()
    expect(await call.closed).toBe("aborted")
    expect(await ended).toBeInstanceOf(APIUserAbortError)
    await expect.poll(counted, { interval: 10 }).toBe(cancelled + 1)
  })
})

const counted = async (): Promise<number> => {
  const text = await (await service.fetch("/metrics")).text()
  return Number(/^gateway_calls_total\{endpoint="responses",status="cancelled"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}
