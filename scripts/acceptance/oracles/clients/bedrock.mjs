import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime"
import { NodeHttpHandler } from "@smithy/node-http-handler"
import {
  clockSchema,
  forecastSchema,
  lowBudget,
  maxOutputTokens,
  oddQuestion,
  pdf,
  pixel,
  question,
  results,
  weatherSchema
} from "../matrix.mjs"

const spec = (name, description, json) => ({ toolSpec: { name, description, inputSchema: { json } } })
const tools = [
  spec("get_weather", "Tells the weather.", weatherSchema),
  spec("read_clock", "Tells the time.", clockSchema)
]
const user = (...content) => ({ role: "user", content })
const defaultModel = "us.anthropic.claude-opus-4-8"
const old = "us.anthropic.claude-haiku-4-5-20251001-v1:0"

export const bedrock = {
  client: "@aws-sdk/client-bedrock-runtime",
  vendorId: "amazon-bedrock",
  start: ({ BedrockSimulator }) => BedrockSimulator.start(),
  headers: ["content-type"],
  params: {
    text: { modelId: defaultModel, messages: [user({ text: "Say exactly: héllo 🌍" })] },
    system: {
      modelId: defaultModel,
      system: [{ text: "Be brief." }],
      messages: [
        user({ text: "Hello." }),
        { role: "assistant", content: [{ text: "Hello to you." }] },
        user({ text: "Say exactly: again" })
      ]
    },
    tools: { modelId: defaultModel, messages: [user({ text: question })], toolConfig: { tools } },
    "auto tool": {
      modelId: defaultModel,
      messages: [user({ text: "Say exactly: none" })],
      toolConfig: { tools, toolChoice: { auto: {} } }
    },
    "forced tool": {
      modelId: defaultModel,
      messages: [user({ text: "Hello." })],
      toolConfig: { tools, toolChoice: { tool: { name: "read_clock" } } }
    },
    "any tool": {
      modelId: defaultModel,
      messages: [user({ text: "Hello." })],
      toolConfig: { tools, toolChoice: { any: {} } }
    },
    // there is no word for none: the tools stay away
    "no tool": { modelId: defaultModel, messages: [user({ text: "What is the weather?" })] },
    "tool results": {
      modelId: defaultModel,
      messages: [
        user({ text: question }),
        {
          role: "assistant",
          content: [
            { text: "I will look." },
            { toolUse: { toolUseId: "call_a", name: "get_weather", input: { city: "Rome", unit: "C" } } },
            { toolUse: { toolUseId: "call_b", name: "read_clock", input: {} } }
          ]
        },
        user(
          { toolResult: { toolUseId: "call_a", content: [{ text: "sunny" }], status: "success" } },
          { toolResult: { toolUseId: "call_b", content: [{ text: "noon" }], status: "success" } }
        )
      ],
      toolConfig: { tools }
    },
    image: {
      modelId: defaultModel,
      messages: [
        user(
          { text: "What is this?" },
          { image: { format: "png", source: { bytes: new Uint8Array(Buffer.from(pixel, "base64")) } } }
        )
      ]
    },
    file: {
      modelId: defaultModel,
      messages: [
        user(
          { text: "What is this?" },
          {
            document: { format: "pdf", name: "report", source: { bytes: new Uint8Array(Buffer.from(pdf, "base64")) } }
          }
        )
      ]
    },
    "JSON schema": {
      modelId: defaultModel,
      messages: [user({ text: "The forecast for 3 days in Rome" })],
      outputConfig: {
        textFormat: {
          type: "json_schema",
          structure: { jsonSchema: { name: "forecast", schema: JSON.stringify(forecastSchema) } }
        }
      }
    },
    stop: {
      modelId: defaultModel,
      messages: [user({ text: "Count to 20" })],
      inferenceConfig: { stopSequences: ["5"] }
    },
    sampling: {
      modelId: old,
      messages: [user({ text: "Say exactly: warm" })],
      inferenceConfig: { temperature: 0.5 }
    },
    reasoning: {
      modelId: "us.anthropic.claude-sonnet-5",
      messages: [user({ text: "Say exactly: so" })],
      additionalModelRequestFields: { thinking: { type: "adaptive", display: "summarized" } },
      outputConfig: { effort: "low" }
    },
    "reasoning by budget": {
      modelId: old,
      messages: [user({ text: "Say exactly: so" })],
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: lowBudget } }
    },
    "cached system": {
      modelId: defaultModel,
      system: [{ text: "Be brief." }, { cachePoint: { type: "default" } }],
      messages: [user({ text: "Say exactly: cheap" })]
    }
  },
  loop: {
    modelId: "us.anthropic.claude-sonnet-5",
    messages: [user({ text: oddQuestion })],
    toolConfig: { tools },
    additionalModelRequestFields: { thinking: { type: "adaptive", display: "summarized" } },
    outputConfig: { effort: "low" }
  },
  answered: (params, message) => ({
    ...params,
    messages: [
      ...params.messages,
      message,
      user(
        ...message.content
          .flatMap(({ toolUse }) => toolUse ?? [])
          .map(({ toolUseId }, at) => ({
            toolResult: { toolUseId, content: [{ text: results[at] }], status: "success" }
          }))
      )
    ]
  }),
  call: async ({ origin }, params, stream, _sent, { defaultIdentity }) => {
    const { accessKeyId, region, secretAccessKey } = defaultIdentity
    const client = new BedrockRuntimeClient({
      region,
      endpoint: origin,
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: 1,
      // by default it speaks HTTP/2
      requestHandler: new NodeHttpHandler()
    })
    const body = { ...params, inferenceConfig: { ...params.inferenceConfig, maxTokens: maxOutputTokens } }
    try {
      return stream ? await streamed(client, body) : plain(await client.send(new ConverseCommand(body)))
    } finally {
      client.destroy()
    }
  },
  /** Schemas go as text, in which the order of keys means nothing. */
  normalised: (body) => {
    const schema = body.outputConfig?.textFormat?.structure?.jsonSchema
    if (schema !== undefined) schema.schema = JSON.parse(schema.schema)
    return body
  }
}

const plain = ({ output, usage }) => {
  const { content } = output.message
  return {
    raw: output.message,
    text: content.flatMap(({ text }) => (text === undefined ? [] : [text])).join(""),
    reasoning: content.flatMap(({ reasoningContent }) => reasoningContent?.reasoningText?.text ?? []).join(""),
    calls: content.flatMap(({ toolUse }) =>
      toolUse === undefined ? [] : [[toolUse.toolUseId, toolUse.name, toolUse.input]]
    ),
    output: usage.outputTokens
  }
}

const streamed = async (client, body) => {
  const { stream } = await client.send(new ConverseStreamCommand(body))
  const answer = { text: "", reasoning: "", calls: [], output: 0 }
  const inputs = new Map()
  for await (const event of stream) {
    const start = event.contentBlockStart?.start?.toolUse
    if (start !== undefined) {
      inputs.set(event.contentBlockStart.contentBlockIndex, "")
      answer.calls.push([start.toolUseId, start.name, event.contentBlockStart.contentBlockIndex])
    }
    const { contentBlockIndex, delta } = event.contentBlockDelta ?? {}
    answer.text += delta?.text ?? ""
    answer.reasoning += delta?.reasoningContent?.text ?? ""
    if (delta?.toolUse !== undefined) inputs.set(contentBlockIndex, inputs.get(contentBlockIndex) + delta.toolUse.input)
    answer.output = event.metadata?.usage?.outputTokens ?? answer.output
  }
  return { ...answer, calls: answer.calls.map(([id, name, at]) => [id, name, JSON.parse(inputs.get(at) || "{}")]) }
}
