import { inferencePaths, routedPaths } from "../Paths.ts"
import type { Json } from "./DocumentSchemas.ts"

const hello = [{ role: "user", content: "Say hello in one sentence." }]

const weather = {
  name: "get_weather",
  description: "The weather in a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false
  }
}

const answer = {
  name: "greeting",
  schema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false
  }
}

/** Requests that run as they stand, with any provider; the first one is what the reference page offers. */
export const requestExamples: Readonly<Record<string, Json>> = {
  [inferencePaths.createChatCompletion]: {
    plain: { summary: "A complete response", value: { model: "auto", messages: hello } },
    stream: { summary: "A stream of chunks", value: { model: "auto", messages: hello, stream: true } },
    tools: {
      summary: "A tool call",
      value: {
        model: "auto",
        messages: [{ role: "user", content: "Get the weather in Rome." }],
        tools: [{ type: "function", function: weather }]
      }
    },
    schema: {
      summary: "JSON that follows a schema",
      value: { model: "auto", messages: hello, response_format: { type: "json_schema", json_schema: answer } }
    },
    cheapest: { summary: "The cheapest model", value: { model: "auto", messages: hello, alpha: 0, max_tokens: 300 } }
  },
  [inferencePaths.createResponse]: {
    plain: { summary: "A complete response", value: { model: "auto", input: "Say hello in one sentence." } },
    stream: {
      summary: "A stream of events",
      value: { model: "auto", input: "Say hello in one sentence.", stream: true }
    },
    tools: {
      summary: "A tool call",
      value: { model: "auto", input: "Get the weather in Rome.", tools: [{ type: "function", ...weather }] }
    }
  },
  [routedPaths.previewRoute]: {
    plain: { summary: "Preview the route of a request", value: { model: "auto", messages: hello } }
  },
  [routedPaths.giveFeedback]: {
    plain: {
      summary: "A useful response",
      value: { request_id: "chatcmpl-0192f0c1a2b374d58e6f708192a3b4c5", score: 1 }
    }
  }
}
