import type { JsonObject } from "../../../domain/Chat.ts"
import type { Reasoning } from "../../../domain/Model.ts"
import type { ParameterRules } from "../../../domain/ParameterRules.ts"
import type { Parameter, Support } from "../../../domain/Support.ts"
import { all } from "../shared/SupportTables.ts"

/**
 * Vendor differences as data: the protocol has no vendor-specific branches. Fields that are left out default to OpenAI's
 * behaviour, unless the default is documented otherwise.
 */
export interface Quirks {
  readonly outputCapField: "max_completion_tokens" | "max_tokens"
  /** The role of developer messages. */
  readonly instructionRole: "developer" | "system"
  /** Supports `stream_options.include_usage`; other vendors send usage without it. */
  readonly streamOptions: boolean
  /** Supports `tool_choice.allowed_tools`; otherwise the tools are filtered and the mode is sent. */
  readonly allowedTools: boolean
  readonly customTools: boolean
  /** Takes refusals of the assistant as such; otherwise they are sent as text. */
  readonly refusals: boolean
  /** Takes content that is all text as a list of parts; otherwise it is sent as one text. */
  readonly textParts: boolean
  /** Takes a message of the assistant that has neither content nor calls. */
  readonly emptyAnswers: boolean
  /** Rejects a user message after a tool result, instructions after either that or the assistant, and an answer at the end. */
  readonly strictOrder: boolean
  /** Takes a function without `parameters`. */
  readonly optionalParameters: boolean
  /** The field in which reasoning of earlier turns is sent back. */
  readonly reasoningHistory: "none" | "reasoning_content" | "reasoning_details"
  /** Rejects a conversation with tools in which a message of the assistant has no reasoning. */
  readonly requiresReasoning: boolean
  /** Each reasoning fragment may repeat the text of the fragments before. */
  readonly repeatsReasoning: boolean
  /** Accepts the `extra_content` of its own tool calls in later requests. */
  readonly extraContent: boolean
  /** Accepts only tool call ids of exactly this many letters and digits. */
  readonly toolCallIdLength: number | null
  /** Rejects longer tool call ids; other vendors give such ids. */
  readonly maxToolCallIdLength: number | null
  /** What routing names as changed too. */
  readonly rules: ParameterRules
  readonly reasoningFields: ReasoningFields
  /** Rejects a forced tool call while the model reasons. */
  readonly forcedToolsForbidReasoning: boolean
  readonly seedField: "seed" | "random_seed"
  /** Fields that every body carries. */
  readonly always: JsonObject
  readonly support: Readonly<Partial<Record<Parameter, Support>>>
}

/** The request fields for reasoning, by the model's reasoning style. */
export interface ReasoningFields {
  /** The reasoning styles that these fields support. */
  readonly styles: ReadonlyArray<Reasoning["style"]>
  readonly effort: (effort: string | number) => JsonObject
  readonly toggle: (on: boolean) => JsonObject
  readonly budget: (tokens: number) => JsonObject
}

const effortField: ReasoningFields["effort"] = (effort) => ({ reasoning_effort: effort })

/** `reasoning_effort` alone; a toggle is sent as `high` or `none`. */
const reasoningByEffort: ReasoningFields = {
  styles: ["effort", "toggle", "fixed"],
  effort: effortField,
  toggle: (on) => ({ reasoning_effort: on ? "high" : "none" }),
  budget: () => ({})
}

/** `thinking: { type }`, with `budget_tokens` for a budget. */
export const reasoningByType: ReasoningFields = {
  styles: ["effort", "budget", "toggle", "fixed"],
  effort: effortField,
  toggle: (on) => ({ thinking: { type: on ? "enabled" : "disabled" } }),
  budget: (tokens) => ({ thinking: { type: "enabled", budget_tokens: tokens } })
}

/** The same where the effort has no value `none`. */
export const reasoningOffByType: ReasoningFields = {
  ...reasoningByType,
  effort: (effort) => (effort === "none" ? reasoningByType.toggle(false) : effortField(effort))
}

/** `enable_thinking` and `thinking_budget`. */
export const reasoningByFlag: ReasoningFields = {
  styles: ["effort", "budget", "toggle", "fixed"],
  effort: effortField,
  toggle: (on) => ({ enable_thinking: on }),
  budget: (tokens) => ({ enable_thinking: true, thinking_budget: tokens })
}

/** One `reasoning` object for effort, toggle and budget. */
export const reasoningByObject: ReasoningFields = {
  styles: ["effort", "budget", "toggle", "fixed"],
  effort: (effort) => ({ reasoning: { effort } }),
  toggle: (on) => ({ reasoning: { enabled: on } }),
  budget: (tokens) => ({ reasoning: { max_tokens: tokens } })
}

/** `reasoning: { enabled }` beside `reasoning_effort`. */
export const reasoningByEnabled: ReasoningFields = {
  ...reasoningByEffort,
  toggle: (on) => ({ reasoning: { enabled: on } })
}

export const openAi: Quirks = {
  outputCapField: "max_completion_tokens",
  instructionRole: "developer",
  streamOptions: true,
  allowedTools: true,
  customTools: true,
  refusals: true,
  textParts: true,
  emptyAnswers: true,
  strictOrder: false,
  optionalParameters: true,
  reasoningHistory: "none",
  requiresReasoning: false,
  repeatsReasoning: false,
  extraContent: false,
  toolCallIdLength: null,
  maxToolCallIdLength: 40,
  rules: { maxIdCharacters: 64, isOpenAi: true },
  reasoningFields: reasoningByEffort,
  forcedToolsForbidReasoning: false,
  seedField: "seed",
  always: {},
  support: {}
}

/** The fields that any OpenAI-compatible server can be expected to support. */
export const compatible: Quirks = {
  ...openAi,
  outputCapField: "max_tokens",
  instructionRole: "system",
  allowedTools: false,
  customTools: false,
  refusals: false,
  textParts: false,
  emptyAnswers: false,
  optionalParameters: false,
  maxToolCallIdLength: null,
  rules: { ...openAi.rules, isOpenAi: false },
  support: {
    ...all("refused", "modalities", "audio"),
    // its known members alone
    response_format: "translated",
    ...all(
      "dropped",
      "verbosity",
      "service_tier",
      "store",
      "metadata",
      "safety_identifier",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "prediction",
      "moderation",
      "web_search_options"
    )
  }
}
