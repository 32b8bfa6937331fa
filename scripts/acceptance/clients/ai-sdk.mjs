// The AI SDK with the three providers that people point at gateways.
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { createOpenRouter } from "@openrouter/ai-sdk-provider"
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai"
import { citySchema, weather, weatherSchema } from "../tasks.mjs"

const tools = {
  weather: tool({
    description: "The weather of a city",
    inputSchema: weatherSchema,
    execute: async (input) => weather(input)
  })
}

/** With the default the provider replays history as references to stored items, and nothing is stored here. */
const stateless = { openai: { store: false } }

const adapter = (client, modelOf, providerOptions = {}) => ({
  client,
  text: async (access, { model, prompt }) =>
    (await generateText({ model: modelOf(access, model), prompt, maxRetries: 0, providerOptions })).text,
  stream: async (access, { model, onText, prompt, signal }) => {
    const { fullStream } = streamText({
      model: modelOf(access, model),
      prompt,
      tools,
      maxRetries: 0,
      providerOptions,
      abortSignal: signal,
      onError: () => {}
    })
    for await (const part of fullStream) {
      if (part.type === "text-delta") onText(part.text)
      if (part.type === "error") throw part.error
      if (part.type === "abort") throw new Error("aborted")
    }
  },
  loop: async (access, { model, prompt }) => {
    const result = streamText({
      model: modelOf(access, model),
      prompt,
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      providerOptions
    })
    return await result.text
  },
  object: async (access, { model, prompt }) =>
    (
      await generateObject({
        model: modelOf(access, model),
        prompt,
        schema: citySchema,
        maxRetries: 0,
        providerOptions
      })
    ).object
})

const responses = (access, model) => createOpenAI({ apiKey: access.apiKey, baseURL: access.baseURL }).responses(model)

export const adapters = [
  adapter("@ai-sdk/openai chat", (access, model) =>
    createOpenAI({ apiKey: access.apiKey, baseURL: access.baseURL }).chat(model)
  ),
  {
    ...adapter("@ai-sdk/openai responses", responses, stateless),
    /** Without `store: false` the error says what to do. */
    extra: {
      name: "reference hint",
      run: async (access) => {
        const messages = [
          { role: "user", content: "Say: hi" },
          {
            role: "assistant",
            content: [{ type: "text", text: "hi", providerOptions: { openai: { itemId: "msg_1" } } }]
          },
          { role: "user", content: "Say: again" }
        ]
        const failure = await generateText({ model: responses(access, "sim/fast"), messages, maxRetries: 0 }).then(
          () => undefined,
          (error) => error
        )
        if (!/store: false/.test(String(failure?.message))) throw new Error(`no hint: ${failure}`)
        const { text } = await generateText({
          model: responses(access, "sim/fast"),
          messages,
          maxRetries: 0,
          providerOptions: stateless
        })
        if (text !== "again") throw new Error(`with the hint followed: ${text}`)
      }
    }
  },
  adapter("@ai-sdk/openai-compatible", (access, model) =>
    createOpenAICompatible({
      name: "gateway",
      apiKey: access.apiKey,
      baseURL: access.baseURL,
      supportsStructuredOutputs: true
    }).chatModel(model)
  ),
  adapter("@openrouter/ai-sdk-provider", (access, model) =>
    createOpenRouter({ apiKey: access.apiKey, baseURL: access.baseURL, compatibility: "strict" }).chat(model)
  )
]
