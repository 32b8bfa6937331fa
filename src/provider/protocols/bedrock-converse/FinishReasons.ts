import { brokenAnswer, finishTable } from "../../FinishTable.ts"

const aws = "Amazon Bedrock, Converse API, stopReason"

export const finishReasonOf = finishTable([
  ["end_turn", "stop", aws],
  ["stop_sequence", "stop", aws],
  ["tool_use", "tool_calls", aws],
  ["max_tokens", "length", aws],
  ["model_context_window_exceeded", "length", aws],
  ["guardrail_intervened", "content_filter", aws],
  ["content_filtered", "content_filter", aws],
  ["malformed_model_output", brokenAnswer("the model's answer was malformed (malformed_model_output)"), aws],
  ["malformed_tool_use", brokenAnswer("the model's answer was malformed (malformed_tool_use)"), aws]
])
