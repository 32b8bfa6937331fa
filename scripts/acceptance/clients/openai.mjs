// The official client, by its plain calls and by its helpers.
import OpenAI from "openai"
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod"
import { citySchema, citySchemaJson, weather, weatherSchemaJson } from "../tasks.mjs"

const clientOf = ({ apiKey, baseURL }) => new OpenAI({ apiKey, baseURL, maxRetries: 0 })
const user = (content) => ({ role: "user", content })

const chatTool = {
  type: "function",
  function: { name: "weather", description: "The weather of a city", parameters: weatherSchemaJson }
}
const responsesTool = {
  type: "function",
  name: "weather",
  description: "The weather of a city",
  parameters: weatherSchemaJson,
  strict: true
}

const chatText = async (access, { model, prompt }) => {
  const answer = await clientOf(access).chat.completions.create({ model, messages: [user(prompt)] })
  return answer.choices[0].message.content
}

const responsesText = async (access, { model, prompt }) =>
  (await clientOf(access).responses.create({ model, input: prompt })).output_text

export const adapters = [
  {
    client: "openai chat.create",
    models: async (access) => (await clientOf(access).models.list()).data.map(({ id }) => id),
    text: chatText,
    stream: async (access, { model, onText, prompt, signal }) => {
      const stream = await clientOf(access).chat.completions.create(
        { model, messages: [user(prompt)], tools: [chatTool], stream: true, stream_options: { include_usage: true } },
        { signal }
      )
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) onText(chunk.choices[0].delta.content)
    },
    loop: async (access, { model, prompt }) => {
      const messages = [user(prompt)]
      for (let turn = 0; turn < 3; turn++) {
        const { message } = (await clientOf(access).chat.completions.create({ model, messages, tools: [chatTool] }))
          .choices[0]
        if (message.tool_calls === undefined) return message.content
        messages.push(message)
        for (const { function: called, id } of message.tool_calls) {
          messages.push({ role: "tool", tool_call_id: id, content: weather(JSON.parse(called.arguments)) })
        }
      }
    },
    object: async (access, { model, prompt }) => {
      const answer = await clientOf(access).chat.completions.create({
        model,
        messages: [user(prompt)],
        response_format: { type: "json_schema", json_schema: { name: "city", strict: true, schema: citySchemaJson } }
      })
      return JSON.parse(answer.choices[0].message.content)
    }
  },
  {
    client: "openai chat.stream",
    text: async (access, { model, prompt }) =>
      (
        await clientOf(access)
          .chat.completions.stream({ model, messages: [user(prompt)] })
          .finalChatCompletion()
      ).choices[0].message.content,
    stream: async (access, { model, onText, prompt, signal }) => {
      const stream = clientOf(access).chat.completions.stream(
        { model, messages: [user(prompt)], tools: [chatTool] },
        { signal }
      )
      stream.on("content", onText)
      await stream.finalChatCompletion()
    },
    loop: (access, { model, prompt }) =>
      clientOf(access)
        .chat.completions.runTools({
          model,
          stream: true,
          messages: [user(prompt)],
          tools: [{ type: "function", function: { ...chatTool.function, parse: JSON.parse, function: weather } }]
        })
        .finalContent(),
    object: async (access, { model, prompt }) => {
      const answer = await clientOf(access).chat.completions.parse({
        model,
        messages: [user(prompt)],
        response_format: zodResponseFormat(citySchema, "city")
      })
      return answer.choices[0].message.parsed
    }
  },
  {
    client: "openai responses.create",
    text: responsesText,
    stream: async (access, { model, onText, prompt, signal }) => {
      const stream = await clientOf(access).responses.create(
        { model, input: prompt, tools: [responsesTool], stream: true },
        { signal }
      )
      for await (const event of stream) if (event.type === "response.output_text.delta") onText(event.delta)
    },
    loop: async (access, { model, prompt }) => {
      const input = [user(prompt)]
      for (let turn = 0; turn < 3; turn++) {
        const { output, output_text } = await clientOf(access).responses.create({
          model,
          input,
          tools: [responsesTool]
        })
        const calls = output.filter(({ type }) => type === "function_call")
        if (calls.length === 0) return output_text
        input.push(...output)
        for (const { arguments: text, call_id } of calls) {
          input.push({ type: "function_call_output", call_id, output: weather(JSON.parse(text)) })
        }
      }
    },
    object: async (access, { model, prompt }) => {
      const format = { type: "json_schema", name: "city", strict: true, schema: citySchemaJson }
      return JSON.parse(
        (await clientOf(access).responses.create({ model, input: prompt, text: { format } })).output_text
      )
    }
  },
  {
    client: "openai responses.stream",
    text: async (access, { model, prompt }) =>
      (await clientOf(access).responses.stream({ model, input: prompt }).finalResponse()).output_text,
    stream: async (access, { model, onText, prompt, signal }) => {
      const stream = clientOf(access).responses.stream({ model, input: prompt, tools: [responsesTool] }, { signal })
      stream.on("response.output_text.delta", ({ delta }) => onText(delta))
      const { status } = await stream.finalResponse()
      if (status !== "completed") throw new Error(`the response is ${status}`)
    },
    object: async (access, { model, prompt }) => {
      const format = zodTextFormat(citySchema, "city")
      return (await clientOf(access).responses.parse({ model, input: prompt, text: { format } })).output_parsed
    }
  }
]
