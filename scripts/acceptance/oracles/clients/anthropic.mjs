import Anthropic from "@anthropic-ai/sdk"
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

const tools = [
  { name: "get_weather", description: "Tells the weather.", input_schema: weatherSchema },
  { name: "read_clock", description: "Tells the time.", input_schema: clockSchema }
]
const user = (content) => ({ role: "user", content })
const defaultModel = "claude-opus-4-8"
const old = "claude-haiku-4-5"

export const anthropic = {
  client: "@anthropic-ai/sdk",
  vendorId: "anthropic",
  start: ({ AnthropicSimulator }) => AnthropicSimulator.start(),
  /** The key goes under either of two names, ours under the other one. */
  headers: ["anthropic-version", "content-type"],
  params: {
    text: { model: defaultModel, messages: [user("Say exactly: héllo 🌍")] },
    system: {
      model: defaultModel,
      system: "Be brief.",
      messages: [user("Hello."), { role: "assistant", content: "Hello to you." }, user("Say exactly: again")]
    },
    tools: { model: defaultModel, messages: [user(question)], tools },
    "auto tool": { model: defaultModel, messages: [user("Say exactly: none")], tools, tool_choice: { type: "auto" } },
    "forced tool": {
      model: defaultModel,
      messages: [user("Hello.")],
      tools,
      tool_choice: { type: "tool", name: "read_clock" }
    },
    "any tool": { model: defaultModel, messages: [user("Hello.")], tools, tool_choice: { type: "any" } },
    "no tool": { model: defaultModel, messages: [user("What is the weather?")], tools, tool_choice: { type: "none" } },
    "one call": {
      model: defaultModel,
      messages: [user(question)],
      tools,
      tool_choice: { type: "auto", disable_parallel_tool_use: true }
    },
    "tool results": {
      model: defaultModel,
      messages: [
        user(question),
        {
          role: "assistant",
          content: [
            { type: "text", text: "I will look." },
            { type: "tool_use", id: "call_a", name: "get_weather", input: { city: "Rome", unit: "C" } },
            { type: "tool_use", id: "call_b", name: "read_clock", input: {} }
          ]
        },
        user([
          { type: "tool_result", tool_use_id: "call_a", content: "sunny" },
          { type: "tool_result", tool_use_id: "call_b", content: "noon" }
        ])
      ],
      tools
    },
    image: {
      model: defaultModel,
      messages: [
        user([
          { type: "text", text: "What is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }
        ])
      ]
    },
    file: {
      model: defaultModel,
      messages: [
        user([
          { type: "text", text: "What is this?" },
          {
            type: "document",
            title: "report.pdf",
            source: { type: "base64", media_type: "application/pdf", data: pdf }
          }
        ])
      ]
    },
    "JSON schema": {
      model: defaultModel,
      messages: [user("The forecast for 3 days in Rome")],
      output_config: { format: { type: "json_schema", schema: forecastSchema } }
    },
    stop: { model: defaultModel, messages: [user("Count to 20")], stop_sequences: ["5"] },
    sampling: { model: old, messages: [user("Say exactly: warm")], temperature: 0.5 },
    reasoning: {
      model: "claude-sonnet-5",
      messages: [user("Say exactly: so")],
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "low" }
    },
    "reasoning by budget": {
      model: old,
      messages: [user("Say exactly: so")],
      thinking: { type: "enabled", budget_tokens: lowBudget }
    },
    "cached system": {
      model: defaultModel,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [user("Say exactly: cheap")]
    }
  },
  loop: {
    model: "claude-sonnet-5",
    messages: [user(oddQuestion)],
    tools,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "low" }
  },
  answered: (params, content) => ({
    ...params,
    messages: [
      ...params.messages,
      { role: "assistant", content },
      user(
        content
          .filter(({ type }) => type === "tool_use")
          .map(({ id }, at) => ({ type: "tool_result", tool_use_id: id, content: results[at] }))
      )
    ]
  }),
  call: async ({ origin }, params, stream, sent) => {
    const client = new Anthropic({
      apiKey: "a-secret",
      baseURL: origin,
      maxRetries: 0,
      defaultHeaders: { "anthropic-version": sent["anthropic-version"] }
    })
    const body = { ...params, max_tokens: maxOutputTokens }
    const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
    return {
      raw: message.content,
      text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
      reasoning: message.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join(""),
      calls: message.content.flatMap((block) =>
        block.type === "tool_use" ? [[block.id, block.name, block.input]] : []
      ),
      output: message.usage.output_tokens
    }
  },
  /** A text is the list of its one block, and not streaming is the default. */
  normalised: (body) => ({
    ...body,
    stream: body.stream === true,
    ...(typeof body.system === "string" && { system: [{ type: "text", text: body.system }] }),
    messages: body.messages.map((message) => ({ ...message, content: blocks(message.content) }))
  })
}

const blocks = (content) =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : content.map((block) => (block.type === "tool_result" ? { ...block, content: blocks(block.content) } : block))
