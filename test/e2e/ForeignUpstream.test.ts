import { LLMock } from "@copilotkit/aimock"
import type OpenAI from "openai"
import { APIError } from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import { type Service, startService } from "../support/Service.ts"

/** An upstream written by others, in each of its formats behind configured providers. */
const mock = new LLMock({ port: 0, chunkSize: 5 })
const longText = "a text that is long enough to be sent in a good many small pieces"
/** Where each format is, and under which name it has the cap. */
const formats = {
  "openai-chat": { basePath: "/v1", cap: "max_completion_tokens" },
  "anthropic-messages": { basePath: "/v1", cap: "max_tokens" },
  gemini: { basePath: "/v1beta", cap: undefined },
  "bedrock-converse": { basePath: "", cap: undefined }
} as const
type Format = keyof typeof formats
const allFormats = Object.keys(formats) as ReadonlyArray<Format>
/** A provider for each of these prompts, so that no test depends on another's health. */
const providers = ["text", "rate", "busy", "cut", "drop", "spare"] as const
type Provider = (typeof providers)[number]

const modelOf = (format: Format, provider: Provider) => `${format}-${provider}/model`

/** The same counts under the names of all formats: it does not translate them. */
const usage = {
  prompt_tokens: 3,
  completion_tokens: 4,
  input_tokens: 3,
  output_tokens: 4,
  promptTokenCount: 3,
  candidatesTokenCount: 4
}

let service: Service
let chat: OpenAI.Chat.Completions

beforeAll(async () => {
  mock.on({ userMessage: "hello" }, { content: "Hi thére 🌍", usage })
  mock.on({ userMessage: "weather", hasToolResult: true }, { content: "It rains in Rome." })
  mock.on(
    { userMessage: "weather" },
    { toolCalls: ["Rome", "Oslo"].map((city) => ({ name: "weather", arguments: JSON.stringify({ city }) })) }
  )
  mock.on({ userMessage: "think" }, { content: "four", reasoning: "two and two" })
  mock.on({ model: "spare" }, { content: "from the spare one" })
  mock.on({ userMessage: "busy" }, { error: { message: "Overloaded", type: "overloaded_error" }, status: 529 })
  mock.on({ userMessage: "rate" }, { error: { message: "slow", type: "rate_limit_error" }, status: 429, retryAfter: 7 })
  mock.on({ userMessage: "cut" }, { content: longText }, { truncateAfterChunks: 6, latency: 20 })
  mock.on({ userMessage: "drop" }, { content: longText }, { truncateAfterChunks: 1 })
  await mock.start()
  service = await startService({
    env: { MOCK_KEY: "mock-provider-key" },
    config: {
      providers: allFormats.flatMap((format) =>
        providers.map((provider) => ({
          id: `${format}-${provider}`,
          protocol: format,
          baseUrl: `${mock.url}${formats[format].basePath}`,
          apiKeyEnv: "MOCK_KEY",
          ...(format === "openai-chat" && { outputCapField: "max_completion_tokens" }),
          models: [
            {
              id: modelOf(format, provider),
              upstreamModel: provider,
              inputPriceMicroUsdPerMillion: 1_000_000,
              outputPriceMicroUsdPerMillion: 2_000_000,
              contextTokens: 100_000,
              outputTokens: 4_000,
              quality: provider === "spare" ? 0.2 : 0.9
            }
          ]
        }))
      ),
      timeouts: { firstContentMillis: 5_000 }
    }
  })
  chat = service.client.chat.completions
})

afterAll(async () => {
  expect(service.output()).not.toContain("mock-provider-key")
  expect(await service.stop()).toBe(0)
  await mock.stop()
})

const saying = (content: string): Array<OpenAI.ChatCompletionMessageParam> => [{ role: "user", content }]

/** `auto` between the provider of this fault and the spare one, the first being the better. */
const between = (format: Format, provider: Provider) => ({
  model: "auto",
  alpha: 1,
  models: { allow: [modelOf(format, provider), modelOf(format, "spare")] },
  messages: saying(provider)
})

const metadataOf = (answer: object) => (answer as { readonly router_metadata: RouterMetadata }).router_metadata

describe.each(allFormats)("through a configured provider of %s", (format) => {
  const model = modelOf(format, "text")

  it("a non-streaming response comes back, charged by the provider's usage", async () => {
    const answer = await chat.create({ model, messages: saying("hello"), max_tokens: 77 })
    expect(answer.choices[0]?.message.content).toBe("Hi thére 🌍")
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
    expect(metadataOf(answer).cost).toEqual({ amount_microusd: 11, currency: "USD", basis: "charged" })
    const sent = mock.getLastRequest()
    const { cap } = formats[format]
    expect(sent?.body).toMatchObject({ model: "text", ...(cap !== undefined && { [cap]: 77 }) })
    if (format === "openai-chat") expect(sent?.body).not.toHaveProperty("max_tokens")
    expect(JSON.stringify(sent?.headers)).not.toContain("mrg_sk_")
  })

  it("a streamed answer comes back whole, with the same charge", async () => {
    const stream = chat.stream({ model, messages: saying("hello"), stream_options: { include_usage: true } })
    const answer = await stream.finalChatCompletion()
    expect(answer.choices[0]?.message.content).toBe("Hi thére 🌍")
    expect(answer.choices[0]?.finish_reason).toBe("stop")
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
  })

  it("reasoning comes back beside the answer", async () => {
    const answer = await chat.create({ model, messages: saying("think") })
    expect(answer.choices[0]?.message).toMatchObject({ content: "four", reasoning_content: "two and two" })
  })

  it.each([false, true])("a loop of parallel tools runs to its end (streamed: %s)", async (stream) => {
    const asked: Array<unknown> = []
    const weather = {
      type: "function",
      function: {
        name: "weather",
        description: "The weather at a place.",
        parse: JSON.parse,
        parameters: { type: "object", properties: { city: { type: "string" } } },
        function: (given: unknown) => {
          asked.push(given)
          return "rain"
        }
      }
    } as const
    const body = { model, messages: saying("weather"), tools: [weather] }
    const runner = stream ? chat.runTools({ ...body, stream: true }) : chat.runTools(body)
    expect(await runner.finalContent()).toBe("It rains in Rome.")
    expect(asked).toEqual([{ city: "Rome" }, { city: "Oslo" }])
  })

  it.each([
    ["busy", "provider_error"],
    ["rate", "provider_rate_limited"],
    ["drop", "provider_unreachable"]
  ] as const)("that fails with '%s' leaves one complete response from the next", async (provider, code) => {
    const answer = await chat.stream(between(format, provider)).finalChatCompletion()
    expect(answer.choices[0]?.message.content).toBe("from the spare one")
    const { attempts, fallback, model: answered } = metadataOf(answer)
    expect([answered, fallback]).toEqual([modelOf(format, "spare"), { enabled: true, used: true }])
    expect(attempts.map((attempt) => attempt.error?.code ?? null)).toEqual([...attempts.slice(1).map(() => code), null])
  })

  it("that is alone and fails is told with its fault, and when to come back", async () => {
    const ask = (provider: Provider) =>
      service.post("/v1/chat/completions", { model: modelOf(format, provider), messages: saying(provider) })
    const busy = await ask("busy")
    expect([busy.status, busy.headers.get("x-should-retry")]).toEqual([502, "false"])
    expect(await busy.json()).toMatchObject({ error: { type: "provider_error", code: "provider_error" } })
    const rate = await ask("rate")
    expect([rate.status, rate.headers.get("retry-after")]).toEqual([502, "7"])
    expect(await rate.json()).toMatchObject({ error: { code: "provider_rate_limited" } })
  })

  it("that cuts its stream after content makes the client throw, never a short answer", async () => {
    let text = ""
    const stream = await chat.create({ ...between(format, "cut"), stream: true })
    const failure = await (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
      return undefined
    })().catch((error: unknown) => error)
    expect(text.length).toBeGreaterThan(0)
    expect(longText.startsWith(text)).toBe(true)
    expect(text).not.toBe(longText)
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toMatchObject({ code: "provider_disconnected" })
  })
})
