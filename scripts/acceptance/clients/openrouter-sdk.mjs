// Its schemas are strict: what it takes, the looser clients of that format take as well.
import { OpenRouter } from "@openrouter/sdk"
import { citySchemaJson, weather, weatherSchemaJson } from "../tasks.mjs"

const clientOf = ({ apiKey, baseURL }) =>
  new OpenRouter({ apiKey, serverURL: baseURL, retryConfig: { strategy: "none" } })
const tools = [
  {
    type: "function",
    function: { name: "weather", description: "The weather of a city", parameters: weatherSchemaJson }
  }
]
const send = (access, chatRequest, options) => clientOf(access).chat.send({ chatRequest }, options)
const user = (content) => ({ role: "user", content })

export const adapters = [
  {
    client: "@openrouter/sdk",
    models: async (access) => {
      const ids = []
      for await (const page of await clientOf(access).models.list()) ids.push(...page.result.data.map(({ id }) => id))
      return ids
    },
    text: async (access, { model, prompt }) =>
      (await send(access, { model, messages: [user(prompt)] })).choices[0].message.content,
    stream: async (access, { model, onText, prompt, signal }) => {
      const stream = await send(access, { model, messages: [user(prompt)], tools, stream: true }, { signal })
      for await (const chunk of stream) {
        if (chunk.error !== undefined) throw Object.assign(new Error(chunk.error.message), chunk.error)
        if (chunk.choices[0]?.delta.content) onText(chunk.choices[0].delta.content)
      }
    },
    loop: async (access, { model, prompt }) => {
      const messages = [user(prompt)]
      for (let turn = 0; turn < 3; turn++) {
        const { message } = (await send(access, { model, messages, tools })).choices[0]
        if (message.toolCalls === undefined) return message.content
        messages.push(message)
        for (const { function: called, id } of message.toolCalls) {
          messages.push({ role: "tool", toolCallId: id, content: weather(JSON.parse(called.arguments)) })
        }
      }
    },
    object: async (access, { model, prompt }) => {
      const responseFormat = { type: "json_schema", jsonSchema: { name: "city", strict: true, schema: citySchemaJson } }
      return JSON.parse(
        (await send(access, { model, messages: [user(prompt)], responseFormat })).choices[0].message.content
      )
    }
  }
]
