// Anthropic's official client on Messages, by its plain calls and by its helpers.
import Anthropic from "@anthropic-ai/sdk"
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema"
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod"
import { citySchema, citySchemaJson, speak, weather, weatherSchemaJson } from "../tasks.mjs"

const clientOf = ({ apiKey, origin }, options = {}) =>
  new Anthropic({ apiKey, baseURL: origin, maxRetries: 0, ...options })

const asked = ({ model, prompt }) => ({
  model,
  max_tokens: 4_000,
  messages: [{ role: "user", content: prompt }]
})
const tool = { name: "weather", description: "The weather of a city", input_schema: weatherSchemaJson }

const textOf = ({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")

const models = async (access) => {
  const ids = []
  for await (const { display_name, id } of clientOf(access).models.list({ limit: 2 })) {
    if (typeof display_name !== "string") throw new Error(`${id} has no display name`)
    ids.push(id)
  }
  return ids
}

/** The class, status and type of the error that a call ends with. */
const errorOf = (call) =>
  call.then(
    () => "succeeded",
    (error) => [error.constructor.name, error.status, error.error?.error?.type].join(" ")
  )

const typedErrors = async (access) => {
  const client = clientOf(access)
  const request = asked({ model: "sim/fast", prompt: speak })
  const named = { headers: { "idempotency-key": `acceptance-${process.pid}` } }
  const long = asked({ model: "sim/best", prompt: "Please give me 150 words." })
  const first = client.messages.create(long, named)
  // a failure is told where it is awaited
  first.catch(() => {})
  await client.messages.countTokens({ model: "sim/fast", messages: request.messages })
  const found = {
    "while it runs": await errorOf(client.messages.create(long, named)),
    "no key": await errorOf(clientOf(access, { apiKey: "no" }).messages.create(request)),
    "no key for the list of models": await errorOf(clientOf(access, { apiKey: "no" }).models.list()),
    "a field": await errorOf(client.messages.create({ ...request, max_tokens: 0 })),
    "a model": await errorOf(client.messages.create({ ...request, model: "none/such" })),
    "a path": await errorOf(client.messages.batches.create({ requests: [] })),
    "a provider, tried again by nobody": await errorOf(
      clientOf(access, { maxRetries: 2 }).messages.create({ ...request, model: "sim/overloaded" })
    )
  }
  const wanted = {
    "no key": "AuthenticationError 401 authentication_error",
    "no key for the list of models": "AuthenticationError 401 authentication_error",
    "a field": "BadRequestError 400 invalid_request_error",
    "a model": "NotFoundError 404 not_found_error",
    "a path": "NotFoundError 404 not_found_error",
    "a provider, tried again by nobody": "InternalServerError 502 api_error",
    "while it runs": "RateLimitError 429 rate_limit_error"
  }
  for (const [what, error] of Object.entries(wanted)) {
    if (found[what] !== error) throw new Error(`${what}: ${found[what]} in place of ${error}`)
  }
  // the client waits as long as it is told, and comes back for the answer
  const patient = await clientOf(access, { maxRetries: 5 }).messages.create(long, named)
  if (patient.id !== (await first).id) throw new Error("the repetition got another answer")
  const { input_tokens } = await client.messages.countTokens({ model: "sim/fast", messages: request.messages })
  if (!(input_tokens > 0)) throw new Error(`${input_tokens} tokens`)
}

export const adapters = [
  {
    client: "@anthropic-ai/sdk create",
    models,
    text: async (access, options) => textOf(await clientOf(access).messages.create(asked(options))),
    stream: async (access, { onText, signal, ...options }) => {
      const stream = await clientOf(access).messages.create(
        { ...asked(options), tools: [tool], stream: true },
        { signal }
      )
      let isWhole = false
      for await (const event of stream) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") onText(event.delta.text)
        isWhole ||= event.type === "message_stop"
      }
      signal.throwIfAborted()
      if (!isWhole) throw new Error("no message_stop")
    },
    loop: async (access, options) => {
      const request = { ...asked(options), tools: [tool] }
      for (let turn = 0; turn < 3; turn++) {
        const message = await clientOf(access).messages.create(request)
        const calls = message.content.filter(({ type }) => type === "tool_use")
        if (calls.length === 0) return textOf(message)
        request.messages.push({ role: "assistant", content: message.content })
        request.messages.push({
          role: "user",
          content: calls.map(({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: weather(input) }))
        })
      }
    },
    object: async (access, options) => {
      const format = { type: "json_schema", schema: citySchemaJson }
      return JSON.parse(
        textOf(await clientOf(access).messages.create({ ...asked(options), output_config: { format } }))
      )
    },
    extra: { run: typedErrors }
  },
  {
    client: "@anthropic-ai/sdk helpers",
    text: (access, options) => clientOf(access).messages.stream(asked(options)).finalText(),
    stream: async (access, { onText, signal, ...options }) => {
      const stream = clientOf(access).messages.stream({ ...asked(options), tools: [tool] }, { signal })
      stream.on("text", onText)
      const { stop_reason } = await stream.finalMessage()
      if (stop_reason === null) throw new Error("it has not stopped")
    },
    loop: async (access, options) => {
      const { input_schema: inputSchema, ...rest } = tool
      const runnable = betaTool({ ...rest, inputSchema, run: weather })
      return textOf(await clientOf(access).beta.messages.toolRunner({ ...asked(options), tools: [runnable] }))
    },
    object: async (access, options) => {
      const format = zodOutputFormat(citySchema)
      return (await clientOf(access).messages.parse({ ...asked(options), output_config: { format } })).parsed_output
    }
  }
]
