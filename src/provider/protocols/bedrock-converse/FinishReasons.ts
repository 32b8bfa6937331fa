import { badResponse, finishTable } from "../shared/FinishReasonTable.ts"

const aws = "Amazon Bedrock, Converse API, stopReason"

export const finishReasonOf = finishTable([
  ["end_turn", "stop", aws],
  ["stop_sequence", "stop", aws],
  ["tool_use", "tool_calls", aws],
  ["max_tokens", "length", aws],
  ["model_context_window_exceeded", "length", aws],
  ["guardrail_intervened", "content_filter", aws],
  ["content_filtered", "content_filter", aws],
  ["malformed_model_output", badResponse("the model's answer was malformed (malformed_model_output)"), aws],
  ["malformed_tool_use", badResponse("the model's answer was malformed (malformed_tool_use)"), aws]
])
