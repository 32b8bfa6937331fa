// @ts-check
// The calls that are made twice: over our adapters as written here, and over each provider's own client.

export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

export const pdf = Buffer.from("%PDF-1.4 nothing more").toString("base64")

export const weatherSchema = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string", enum: ["C", "F"] } },
  required: ["city", "unit"],
  additionalProperties: false
}
export const clockSchema = { type: "object", properties: {} }
export const forecastSchema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false
}

/** @param {unknown} content */
const user = (content) => ({ role: "user", content })
const weather = {
  type: "function",
  function: { name: "get_weather", description: "Tells the weather.", parameters: weatherSchema }
}
const clock = {
  type: "function",
  function: { name: "read_clock", description: "Tells the time.", parameters: clockSchema }
}
const tools = [weather, clock]
export const question = "What is the weather in Rome, and what does the clock say?"
/** Its length makes Claude think in secret too. */
export const oddQuestion = `${question} Go!`
/** What the tools say, in the order of the calls. */
export const results = ["sunny", "noon"]
const calls = [
  { id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome","unit":"C"}' } },
  { id: "call_b", type: "function", function: { name: "read_clock", arguments: "{}" } }
]

/**
 * A portable request, and the effort where one is asked for.
 *
 * @typedef {{ request: { messages: Array<object>, [name: string]: unknown }, effort?: "low" }} Row
 */

/** Answered by calls after some reasoning; the reasoning and the results go back in the second request. @type {Row} */
export const loop = { request: { messages: [user(oddQuestion)], tools }, effort: "low" }

/** @type {Readonly<Record<string, Row>>} */
export const rows = {
  text: { request: { messages: [user("Say exactly: héllo 🌍")] } },
  system: {
    request: {
      messages: [
        { role: "system", content: "Be brief." },
        user("Hello."),
        { role: "assistant", content: "Hello to you." },
        user("Say exactly: again")
      ]
    }
  },
  tools: { request: { messages: [user(question)], tools } },
  "auto tool": { request: { messages: [user("Say exactly: none")], tools, tool_choice: "auto" } },
  "forced tool": {
    request: { messages: [user("Hello.")], tools, tool_choice: { type: "function", function: { name: "read_clock" } } }
  },
  "any tool": { request: { messages: [user("Hello.")], tools, tool_choice: "required" } },
  "no tool": { request: { messages: [user("What is the weather?")], tools, tool_choice: "none" } },
  "one call": { request: { messages: [user(question)], tools, parallel_tool_calls: false } },
  "tool results": {
    request: {
      messages: [
        user(question),
        { role: "assistant", content: "I will look.", tool_calls: calls },
        { role: "tool", tool_call_id: "call_b", content: "noon" },
        { role: "tool", tool_call_id: "call_a", content: "sunny" }
      ],
      tools
    }
  },
  image: {
    request: {
      messages: [
        user([
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } }
        ])
      ]
    }
  },
  file: {
    request: {
      messages: [
        user([
          { type: "text", text: "What is this?" },
          { type: "file", file: { filename: "report.pdf", file_data: `data:application/pdf;base64,${pdf}` } }
        ])
      ]
    }
  },
  "JSON schema": {
    request: {
      messages: [user("The forecast for 3 days in Rome")],
      response_format: { type: "json_schema", json_schema: { name: "forecast", schema: forecastSchema, strict: true } }
    }
  },
  stop: { request: { messages: [user("Count to 20")], stop: ["5"] } },
  sampling: { request: { messages: [user("Say exactly: warm")], temperature: 0.5 } },
  reasoning: { request: { messages: [user("Say exactly: so")] }, effort: "low" },
  "reasoning by budget": { request: { messages: [user("Say exactly: so")] }, effort: "low" },
  "cached system": {
    request: {
      messages: [
        {
          role: "system",
          content: [{ type: "text", text: "Be brief.", prompt_cache_breakpoint: { mode: "explicit" } }]
        },
        user("Say exactly: cheap")
      ]
    }
  }
}

export const maxOutputTokens = 8_000
/** A fifth of the output, as effort `low` is. */
export const lowBudget = 1_600
