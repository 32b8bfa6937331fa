import { HumanMessage, ToolMessage } from "@langchain/core/messages"
import { tool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import { citySchema, weather, weatherSchema } from "../tasks.mjs"

const weatherTool = tool(async (input) => weather(input), {
  name: "weather",
  description: "The weather of a city",
  schema: weatherSchema
})

const adapter = (client, useResponsesApi) => {
  const modelOf = ({ apiKey, baseURL }, model) =>
    new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0, useResponsesApi })
  return {
    client,
    text: async (access, { model, prompt }) => (await modelOf(access, model).invoke(prompt)).text,
    stream: async (access, { model, onText, prompt, signal }) => {
      for await (const chunk of await modelOf(access, model).bindTools([weatherTool]).stream(prompt, { signal }))
        onText(chunk.text)
    },
    loop: async (access, { model, prompt }) => {
      const bound = modelOf(access, model).bindTools([weatherTool])
      const messages = [new HumanMessage(prompt)]
      for (let turn = 0; turn < 3; turn++) {
        const answer = await bound.invoke(messages)
        if (answer.tool_calls.length === 0) return answer.text
        messages.push(answer)
        for (const { args, id } of answer.tool_calls)
          messages.push(new ToolMessage({ content: weather(args), tool_call_id: id }))
      }
    },
    object: (access, { model, prompt }) =>
      modelOf(access, model).withStructuredOutput(citySchema, { name: "city" }).invoke(prompt)
  }
}

export const adapters = [adapter("@langchain/openai chat", false), adapter("@langchain/openai responses", true)]
