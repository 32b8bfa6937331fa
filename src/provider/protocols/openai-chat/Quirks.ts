import type { JsonObject } from "../../../domain/Chat.ts"
import type { Reasoning } from "../../../domain/Model.ts"
import type { Parameter, Support } from "../../../domain/Support.ts"

/**
 * What a vendor does its own way, as data: the protocol never asks who it is talking to. Left out means as OpenAI does,
 * except where a default says otherwise.
 */
export interface Quirks {
  readonly outputCapField: "max_completion_tokens" | "max_tokens"
  /** The role under which developer messages go. */
  readonly instructionRole: "developer" | "system"
  /** Takes `stream_options.include_usage`; one that does not sends usage unasked. */
  readonly streamOptions: boolean
  /** Takes `tool_choice.allowed_tools`; else the tools are filtered and the mode is sent. */
  readonly allowedTools: boolean
  readonly customTools: boolean
  /** How thoughts of an earlier turn go back. */
  readonly reasoningBack: "none" | "reasoning_content" | "reasoning_details"
  /** Each fragment of a thought may repeat all of it so far. */
  readonly repeatsReasoning: boolean
  /** Takes back what it put under a tool call's `extra_content`. */
  readonly extraContent: boolean
  /** Takes only tool call ids of exactly this many letters and digits. */
  readonly toolCallIdLength: number | null
  readonly thinking: Thinking
  readonly seedField: "seed" | "random_seed"
  /** Fields that every body carries. */
  readonly always: JsonObject
  readonly support: Readonly<Partial<Record<Parameter, Support>>>
}

/** The fields by which thinking is asked for, by the model's way of taking it. */
export interface Thinking {
  /** The ways of a model that these fields can carry. */
  readonly styles: ReadonlyArray<Reasoning["style"]>
  readonly effort: (effort: string | number) => JsonObject
  readonly toggle: (on: boolean) => JsonObject
  readonly budget: (tokens: number) => JsonObject
}

const effortField: Thinking["effort"] = (effort) => ({ reasoning_effort: effort })

/** `reasoning_effort` alone; a switch is its two ends. */
export const thinkingByEffort: Thinking = {
  styles: ["effort", "toggle", "fixed"],
  effort: effortField,
  toggle: (on) => ({ reasoning_effort: on ? "high" : "none" }),
  budget: () => ({})
}

/** `thinking: { type }`, with `budget_tokens` where a budget is taken. */
export const thinkingByType: Thinking = {
  styles: ["effort", "budget", "toggle", "fixed"],
  effort: effortField,
  toggle: (on) => ({ thinking: { type: on ? "enabled" : "disabled" } }),
  budget: (tokens) => ({ thinking: { type: "enabled", budget_tokens: tokens } })
}

/** `enable_thinking` and `thinking_budget`. */
export const thinkingByFlag: Thinking = {
  styles: ["effort", "budget", "toggle", "fixed"],
  effort: effortField,
  toggle: (on) => ({ enable_thinking: on }),
  budget: (tokens) => ({ enable_thinking: true, thinking_budget: tokens })
}

/** One `reasoning` object for everything. */
export const thinkingByObject: Thinking = {
  styles: ["effort", "budget", "toggle", "fixed"],
  effort: (effort) => ({ reasoning: { effort } }),
  toggle: (on) => ({ reasoning: { enabled: on } }),
  budget: (tokens) => ({ reasoning: { max_tokens: tokens } })
}

/** `reasoning: { enabled }` beside `reasoning_effort`. */
export const thinkingByEnabled: Thinking = { ...thinkingByEffort, toggle: (on) => ({ reasoning: { enabled: on } }) }

export const openAi: Quirks = {
  outputCapField: "max_completion_tokens",
  instructionRole: "developer",
  streamOptions: true,
  allowedTools: true,
  customTools: true,
  reasoningBack: "none",
  repeatsReasoning: false,
  extraContent: false,
  toolCallIdLength: null,
  thinking: thinkingByEffort,
  seedField: "seed",
  always: {},
  support: {}
}

/** What can be relied on at a server that only calls itself compatible. */
export const compatible: Quirks = {
  ...openAi,
  outputCapField: "max_tokens",
  instructionRole: "system",
  allowedTools: false,
  customTools: false,
  support: {
    modalities: "refused",
    audio: "refused",
    verbosity: "dropped",
    service_tier: "dropped",
    store: "dropped",
    metadata: "dropped",
    safety_identifier: "dropped",
    prompt_cache_key: "dropped",
    prompt_cache_options: "dropped",
    prompt_cache_retention: "dropped",
    prediction: "dropped",
    moderation: "dropped",
    web_search_options: "dropped"
  }
}

/** The same for several parameters. */
export const all = (support: Support, ...parameters: ReadonlyArray<Parameter>): Quirks["support"] =>
  Object.fromEntries(parameters.map((parameter) => [parameter, support]))
