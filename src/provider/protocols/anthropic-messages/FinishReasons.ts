import { finishTable } from "../shared/FinishReasonTable.ts"

const anthropic = "Anthropic, Messages API, stop reasons"

export const finishReasonOf = finishTable([
  ["end_turn", "stop", anthropic],
  ["stop_sequence", "stop", anthropic],
  ["pause_turn", "stop", `${anthropic}: only where Anthropic's own tools run, which are never sent`],
  ["tool_use", "tool_calls", anthropic],
  ["max_tokens", "length", anthropic],
  ["model_context_window_exceeded", "length", anthropic],
  ["refusal", "content_filter", anthropic]
])
