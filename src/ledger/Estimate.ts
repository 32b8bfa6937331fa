import type { AudioPart, ChatRequest, FilePart, ImagePart, Message, ToolCall } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { highestInputRate, highestOutputRate, type MicroUsd, perMillion, zero } from "../domain/Money.ts"
import type { HoldOption } from "./Hold.ts"
import * as TextMeasure from "./TextMeasure.ts"

/** How long a prompt is, as far as it can be told without a tokenizer. */
export interface PromptMeasure {
  /** Of all text, with what providers put around messages; no tokenizer makes more tokens than this. */
  readonly utf8Bytes: number
  /** Likely tokens of the same. */
  readonly estimatedTokens: number
  readonly images: number
  readonly files: number
  readonly audioTokens: number
}

/** Around each message: who speaks, where it starts and ends. */
const framingTokens = 8
/** Generous for speech that is compressed well: 32 tokens a second at 24 kbit/s. */
const audioCharactersPerToken = 128
/** For models whose limit nobody has documented. */
const undocumentedOutputTokens = 16_384
/** The smallest output caps worth a call. */
const leastOutputTokens = 256
const leastReasoningTokens = 4_096
/** How far the truth may lie above the estimate. */
const safety = 1.5
/** Of streamed text whose tokens nobody has counted. */
const bytesPerOutputToken = 4

/** One pass over messages, tools and response format, linear in their length whatever they contain. */
export const measure = (request: ChatRequest): PromptMeasure => {
  const text = TextMeasure.make()
  const media = { images: 0, files: 0, audioTokens: 0 }
  for (const message of request.messages) {
    text.add(message.role)
    measureMessage(message, text, media)
  }
  for (const tool of request.tools) text.add(JSON.stringify(tool))
  if (request.responseFormat !== undefined) text.add(JSON.stringify(request.responseFormat))
  const framing = framingTokens * (request.messages.length + request.tools.length + 1)
  return { utf8Bytes: text.utf8Bytes() + framing, estimatedTokens: Math.ceil(text.tokens()) + framing, ...media }
}

/** What the prompt will likely count, for context limits and rate limits. */
export const likelyPromptTokens = (prompt: PromptMeasure): number =>
  Math.min(prompt.utf8Bytes, prompt.estimatedTokens) + prompt.audioTokens

/** What the prompt counts at most, for money. */
export const promptTokensBound = (prompt: PromptMeasure, model: Model): number =>
  Math.min(prompt.utf8Bytes, Math.ceil(prompt.estimatedTokens * safety)) +
  (prompt.images + prompt.files) * model.imageTokens +
  prompt.audioTokens

/** The most that the model may answer; at least one token. */
export const outputCap = (request: ChatRequest, model: Model, prompt: PromptMeasure): number => {
  const wanted = request.maxOutputTokens ?? model.profile.maxOutputTokens ?? Number.POSITIVE_INFINITY
  const limit = Math.min(
    model.outputTokens ?? (request.maxOutputTokens === undefined ? undocumentedOutputTokens : Number.POSITIVE_INFINITY),
    model.profile.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    model.contextTokens === null ? Number.POSITIVE_INFINITY : model.contextTokens - likelyPromptTokens(prompt)
  )
  return Math.max(1, Math.min(wanted, limit))
}

/** `reasoning`: the model will think, and thoughts count as output. */
export const holdOption = (
  prompt: PromptMeasure,
  request: ChatRequest,
  model: Model,
  reasoning: boolean
): HoldOption => {
  const cap = outputCap(request, model, prompt)
  const least = Math.min(cap, reasoning ? leastReasoningTokens : leastOutputTokens)
  return { full: mostCost(prompt, model, cap), least: mostCost(prompt, model, least) }
}

/** The output cap that a granted amount pays for in the worst case, never above `cap`. */
export const affordableOutputTokens = (amount: MicroUsd, prompt: PromptMeasure, model: Model, cap: number): number => {
  if (model.prices === null) return cap
  const promptTokens = promptTokensBound(prompt, model)
  const outputRate = highestOutputRate(model.prices, promptTokens)
  if (outputRate === 0) return cap
  const left = amount * 1_000_000 - promptTokens * highestInputRate(model.prices, promptTokens)
  return Math.max(1, Math.min(cap, Math.floor(left / outputRate)))
}

/** Tokens of an answer, from the length of its text, where the provider has not counted them. */
export const estimateOutputTokens = (textBytes: number): number => Math.ceil(textBytes / bytesPerOutputToken)

const mostCost = (prompt: PromptMeasure, model: Model, outputTokens: number): MicroUsd => {
  if (model.prices === null) return zero
  const promptTokens = promptTokensBound(prompt, model)
  return perMillion(
    promptTokens * highestInputRate(model.prices, promptTokens) +
      outputTokens * highestOutputRate(model.prices, promptTokens)
  )
}

interface Media {
  images: number
  files: number
  audioTokens: number
}

const measureMessage = (message: Message, text: TextMeasure.TextMeasure, media: Media): void => {
  if (typeof message.content === "string") text.add(message.content)
  else {
    for (const part of message.content ?? []) {
      if (part.type === "text") text.add(part.text)
      else if (part.type === "refusal") text.add(part.refusal)
      else measureMedia(part, text, media)
    }
  }
  if (message.role === "tool") text.add(message.tool_call_id)
  else if (message.name !== undefined) text.add(message.name)
  if (message.role !== "assistant") return
  for (const extra of [message.refusal, message.reasoning_content, message.reasoning]) {
    if (typeof extra === "string") text.add(extra)
  }
  for (const call of message.tool_calls ?? []) measureToolCall(call, text)
  for (const detail of message.reasoning_details ?? []) {
    for (const part of [detail.text, detail.summary, detail.data, detail.signature]) {
      if (typeof part === "string") text.add(part)
    }
  }
}

/** Data in a URL is a picture or a file, not text. */
const measureMedia = (part: ImagePart | AudioPart | FilePart, text: TextMeasure.TextMeasure, media: Media): void => {
  switch (part.type) {
    case "image_url":
      media.images += 1
      return
    case "input_audio":
      media.audioTokens += Math.ceil(part.input_audio.data.length / audioCharactersPerToken)
      return
    case "file":
      media.files += 1
      if (part.file.filename !== undefined) text.add(part.file.filename)
  }
}

const measureToolCall = (call: ToolCall, text: TextMeasure.TextMeasure): void => {
  text.add(call.id)
  if (call.type === "function") {
    text.add(call.function.name)
    text.add(call.function.arguments)
  } else {
    text.add(call.custom.name)
    text.add(call.custom.input)
  }
  if (call.extra_content !== undefined && call.extra_content !== null) text.add(JSON.stringify(call.extra_content))
}
