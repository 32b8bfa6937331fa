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
    text: async (access, { model, prompt }) => (await run(agentOf(access, model), prompt)).finalOutput,
    stream: async (access, { model, onText, prompt, signal }) => {
      const result = await run(
        agentOf(access, model, { tools: [weatherTool], toolUseBehavior: "stop_on_first_tool" }),
        prompt,
        { stream: true, signal }
      )
      for await (const event of result) {
        if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") onText(event.data.delta)
      }
      await result.completed
    },
    loop: async (access, { model, prompt }) => {
      const result = await run(agentOf(access, model, { tools: [weatherTool] }), prompt, { stream: true })
      await result.completed
      return result.finalOutput
    },
    object: async (access, { model, prompt }) =>
      (await run(agentOf(access, model, { outputType: citySchema }), prompt)).finalOutput
  }
}

export const adapters = [
  adapter("@openai/agents chat", OpenAIChatCompletionsModel),
  adapter("@openai/agents responses", OpenAIResponsesModel)
]
