import { finishTable } from "../shared/FinishReasonTable.ts"

const openAi = "OpenAI, chat completion object"
const anthropic = "Anthropic's values, passed on by OpenAI-compatible servers in front of Claude"
const cohere = "Cohere, Chat API v2"
const zai = "Z.ai, chat completion API"

export const finishReasonOf = finishTable([
  ["stop", "stop", openAi],
  ["length", "length", openAi],
  ["tool_calls", "tool_calls", openAi],
  ["function_call", "tool_calls", openAi],
  ["content_filter", "content_filter", openAi],
  ["eos", "stop", "Together AI, chat completion API"],
  ["eos_token", "stop", "Hugging Face, Text Generation Inference"],
  ["stop_sequence", "stop", "Hugging Face, Text Generation Inference; Anthropic"],
  ["end_turn", "stop", anthropic],
  ["max_tokens", "length", anthropic],
  ["tool_use", "tool_calls", anthropic],
  ["refusal", "content_filter", anthropic],
  ["model_context_window_exceeded", "length", `${zai}; Anthropic`],
  ["sensitive", "content_filter", zai],
  ["network_error", { _tag: "ServerError", status: 502 }, zai],
  ["model_length", "length", "Mistral, chat completion API"],
  ["error", { _tag: "ServerError", status: 500 }, "OpenRouter, errors in streams; Mistral, chat completion API"],
  ["COMPLETE", "stop", cohere],
  ["STOP_SEQUENCE", "stop", cohere],
  ["MAX_TOKENS", "length", cohere],
  ["TOOL_CALL", "tool_calls", cohere],
  ["ERROR", { _tag: "ServerError", status: 500 }, cohere],
  ["insufficient_system_resource", { _tag: "Overloaded", retryAfterMillis: null }, "DeepSeek, chat completion API"]
])
