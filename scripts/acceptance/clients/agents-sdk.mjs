import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool } from "@openai/agents"
import OpenAI from "openai"
import { citySchema, weather, weatherSchema } from "../tasks.mjs"

setTracingDisabled(true)

const weatherTool = tool({
  name: "weather",
  description: "The weather of a city",
  parameters: weatherSchema,
  execute: async (input) => weather(input)
})

const adapter = (client, Model) => {
  const agentOf = ({ apiKey, baseURL }, model, more = {}) =>
    new Agent({
      name: "Clerk",
      instructions: "Be short.",
      model: new Model(new OpenAI({ apiKey, baseURL, maxRetries: 0 }), model),
      ...more
    })
  return {
    client,
    refusalIsError: true,
    text: async (door, { model, prompt }) => (await run(agentOf(door, model), prompt)).finalOutput,
    stream: async (door, { model, onText, prompt, signal }) => {
      const result = await run(
        agentOf(door, model, { tools: [weatherTool], toolUseBehavior: "stop_on_first_tool" }),
        prompt,
        { stream: true, signal }
      )
      for await (const event of result) {
        if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") onText(event.data.delta)
      }
      await result.completed
    },
    loop: async (door, { model, prompt }) => {
      const result = await run(agentOf(door, model, { tools: [weatherTool] }), prompt, { stream: true })
      await result.completed
      return result.finalOutput
    },
    object: async (door, { model, prompt }) =>
      (await run(agentOf(door, model, { outputType: citySchema }), prompt)).finalOutput
  }
}

export const adapters = [
  adapter("@openai/agents chat", OpenAIChatCompletionsModel),
  adapter("@openai/agents responses", OpenAIResponsesModel)
]
