import type { Candidate } from "../domain/Candidate.ts"
import type { AudioPart, ChatRequest, FilePart, ImagePart, Message, ToolCall } from "../domain/Chat.ts"
import * as DataUrl from "../domain/DataUrl.ts"
import { writeExactly } from "../domain/ExactJson.ts"
import { type BoundedPrompt, highestCost, payableOutputTokens } from "../domain/HighestCost.ts"
import { documentFormatOf, headOf, isTextFile } from "../domain/MediaTypes.ts"
import type { Model } from "../domain/Model.ts"
import { type MicroUsd, microUsd, perMillion, zero } from "../domain/Money.ts"
import { highestOutputRate } from "../domain/Prices.ts"
import type { HoldOption } from "./Hold.ts"
import * as PdfPages from "./PdfPages.ts"
import * as TokenEstimator from "./TokenEstimator.ts"

/** Length of a prompt, estimated without a tokenizer. */
export interface PromptEstimate {
  /** Of all text, with the framing that providers add to messages; no tokenizer yields more tokens than this. */
  readonly utf8Bytes: number
  /** Likely tokens of the same text. */
  readonly estimatedTokens: number
  /** Tokens of the same text by a tokenizer with a small vocabulary. */
  readonly highTokens: number
  readonly images: number
  /** Without those that are text. */
  readonly files: number
  /** Of PDF files, beyond the first page of each. */
  readonly furtherPages: number
  readonly audioTokens: number
}

/** The model that a call may go to, and at which prices. */
export type Route = Pick<Candidate, "model" | "terms">

/** For the role and the delimiters of each message, tool and file that is text. */
const framingTokens = 8
/** Above the true count for well compressed speech: 32 tokens a second at 24 kbit/s. */
const audioCharactersPerToken = 128
/** For models without a documented limit. */
const undocumentedOutputTokens = 16_384
/** The smallest output caps worth a call. */
const minOutputTokens = 256
const minReasoningTokens = 4_096
/** Few answers are longer. */
const typicalOutputTokens = 8_192
/** Most answers are shorter: a candidate that this fits is preferred to one whose answer would be cut. */
const likelyOutputTokens = 1_024
/** How far the true count may exceed the estimate. */
const safetyFactor = 1.5
/** Random letters, which no estimate can tell from words, have fewer. */
const minBytesPerToken = 1.9

/**
 * One pass over messages, tools and response format, linear in their length whatever they contain. The bytes are exact;
 * likely tokens of long text are taken from samples at places that `random` chooses.
 */
export const estimatePrompt = (request: ChatRequest, random: TokenEstimator.NextRandom): PromptEstimate => {
  const text = TokenEstimator.make(random)
  const media: Media = { images: 0, files: 0, furtherPages: 0, audioTokens: 0, texts: 0, pdfPages: PdfPages.make() }
  for (const message of request.messages) {
    text.add(message.role)
    addMessage(message, text, media)
  }
  for (const tool of request.tools) text.add(writeExactly(tool))
  if (request.responseFormat !== undefined) text.add(writeExactly(request.responseFormat))
  const { audioTokens, files, furtherPages, images, texts } = media
  const framing = framingTokens * (request.messages.length + request.tools.length + texts + 1)
  const { high, likely } = text.tokens()
  return {
    utf8Bytes: text.utf8Bytes() + framing,
    estimatedTokens: Math.ceil(likely) + framing,
    highTokens: Math.ceil(high) + framing,
    images,
    files,
    furtherPages,
    audioTokens
  }
}

/** The likely length of the prompt without its images and files, for context limits and rate limits. */
export const likelyPromptTokens = (prompt: PromptEstimate): number =>
  Math.min(prompt.utf8Bytes, prompt.estimatedTokens) + prompt.audioTokens

/** The same with them, at so many tokens each; a file counts once. */
export const likelyTokensWithMedia = (prompt: PromptEstimate, imageTokens: number): number =>
  likelyPromptTokens(prompt) + (prompt.images + prompt.files) * imageTokens

/** The upper bound of the prompt's length, for money: whatever tokenizer the provider has. */
export const promptTokensBound = (prompt: PromptEstimate, model: Model): number =>
  textTokensBound(prompt) + imagesBound(prompt) * model.imageTokens + prompt.audioTokens

/** For money each page of a PDF counts as an image; how many tokens a provider makes of it depends on what is on it. */
export const imagesBound = ({ files, furtherPages, images }: PromptEstimate): number => images + files + furtherPages

/** Of its text alone. */
export const textTokensBound = ({ highTokens, utf8Bytes }: PromptEstimate): number =>
  Math.min(utf8Bytes, Math.ceil(Math.max(highTokens * safetyFactor, utf8Bytes / minBytesPerToken)))

/** The output cap sent to the model; at least one token. */
export const outputCap = (request: ChatRequest, route: Route, prompt: PromptEstimate): number => {
  const { model } = route
  const { maxCostMicroUsd } = request.routing
  const requested = request.maxOutputTokens ?? model.profile.maxOutputTokens ?? Number.POSITIVE_INFINITY
  const limit = Math.min(
    model.outputTokens ?? (request.maxOutputTokens === undefined ? undocumentedOutputTokens : Number.POSITIVE_INFINITY),
    model.profile.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    model.contextTokens === null ? Number.POSITIVE_INFINITY : model.contextTokens - likelyPromptTokens(prompt)
  )
  const cap = Math.max(1, Math.min(requested, limit))
  return maxCostMicroUsd === undefined
    ? cap
    : affordableOutputTokens(microUsd(Math.min(maxCostMicroUsd, Number.MAX_SAFE_INTEGER)), prompt, route, cap)
}

/** Whether a hold is for the likely answer, or for the smallest one worth a call. */
export type Need = "likely" | "min"

/** `reasoning`: the model will reason, and reasoning tokens count as output. */
export const holdOption = (
  prompt: PromptEstimate,
  request: ChatRequest,
  route: Route,
  reasoning: boolean,
  need: Need = "min"
): HoldOption => {
  const cap = outputCap(request, route, prompt)
  return {
    max: maxCost(prompt, route, cap),
    min: minCost(prompt, route, cap, reasoning, need),
    typical: request.maxOutputTokens === undefined ? maxCost(prompt, route, Math.min(cap, typicalOutputTokens)) : null
  }
}

/** What the hold of an output cap has to be at least. */
export const minCost = (
  prompt: PromptEstimate,
  route: Route,
  cap: number,
  reasoning: boolean,
  need: Need
): MicroUsd => {
  const minTokens = reasoning ? minReasoningTokens : need === "likely" ? likelyOutputTokens : minOutputTokens
  return maxCost(prompt, route, Math.min(cap, minTokens))
}

/** The next slice of a hold beyond what is used, up to what `cap` may cost in all; `undefined` when that is held already. */
export const sliceOption = (
  held: MicroUsd,
  used: MicroUsd,
  prompt: PromptEstimate,
  route: Route,
  cap: number
): HoldOption | undefined => {
  const { model, terms } = route
  const max = maxCost(prompt, route, cap)
  if (model.prices === null || max <= held) return undefined
  const rate = highestOutputRate(model.prices, promptTokensBound(prompt, model), terms)
  const from = Math.max(held, used)
  const upTo = (tokens: number): MicroUsd => microUsd(Math.min(max, from + perMillion(tokens * rate)))
  return { max, min: upTo(minOutputTokens), typical: upTo(typicalOutputTokens) }
}

/** The output cap whose highest possible cost the granted amount covers, never above `cap`. */
export const affordableOutputTokens = (amount: MicroUsd, prompt: PromptEstimate, route: Route, cap: number): number => {
  const { prices } = route.model
  if (prices === null) return cap
  return Math.max(
    1,
    Math.min(cap, payableOutputTokens(amount, prices, route.terms, boundedPrompt(prompt, route.model)))
  )
}

/** The largest output cap whose highest possible cost is within the amount at one of the routes; `undefined`: none. */
export const fittingOutputTokens = (
  amount: MicroUsd,
  prompt: PromptEstimate,
  request: ChatRequest,
  routes: ReadonlyArray<Route>
): number | undefined => {
  const fitting = routes.flatMap((route) =>
    maxCost(prompt, route, 1) > amount
      ? []
      : [affordableOutputTokens(amount, prompt, route, outputCap(request, route, prompt))]
  )
  return fitting.length === 0 ? undefined : Math.max(...fitting)
}

const maxCost = (prompt: PromptEstimate, { model, terms }: Route, outputTokens: number): MicroUsd =>
  model.prices === null ? zero : highestCost(model.prices, terms, boundedPrompt(prompt, model), outputTokens)

const boundedPrompt = (prompt: PromptEstimate, model: Model): BoundedPrompt => ({
  promptTokens: promptTokensBound(prompt, model),
  audioTokens: prompt.audioTokens
})

interface Media {
  images: number
  files: number
  furtherPages: number
  audioTokens: number
  /** Files that are text. */
  texts: number
  readonly pdfPages: PdfPages.PdfPages
}

const addMessage = (message: Message, text: TokenEstimator.TokenEstimator, media: Media): void => {
  if (typeof message.content === "string") text.add(message.content)
  else {
    for (const part of message.content ?? []) {
      if (part.type === "text") text.add(part.text)
      else if (part.type === "refusal") text.add(part.refusal)
      else addMedia(part, text, media)
    }
  }
  if (message.role === "tool") text.add(message.tool_call_id)
  else if (message.name !== undefined) text.add(message.name)
  if (message.role !== "assistant") return
  for (const extra of [message.refusal, message.reasoning_content, message.reasoning]) {
    if (typeof extra === "string") text.add(extra)
  }
  for (const call of message.tool_calls ?? []) addToolCall(call, text)
  for (const detail of message.reasoning_details ?? []) {
    for (const part of [detail.text, detail.summary, detail.data, detail.signature]) {
      if (typeof part === "string") text.add(part)
    }
  }
}

/** What is in data URLs does not count as text, but for files that are text. */
const addMedia = (part: ImagePart | AudioPart | FilePart, text: TokenEstimator.TokenEstimator, media: Media): void => {
  switch (part.type) {
    case "image_url":
      media.images += 1
      return
    case "input_audio":
      media.audioTokens += Math.ceil(part.input_audio.data.length / audioCharactersPerToken)
      return
    case "file": {
      addFile(part.file, text, media)
      if (part.file.filename !== undefined) text.add(part.file.filename)
    }
  }
}

const addFile = (
  { file_data: data = "", filename }: FilePart["file"],
  text: TokenEstimator.TokenEstimator,
  media: Media
): void => {
  const type = headOf(data)?.mediaType
  const content = type !== undefined && isTextFile(type, filename) ? DataUrl.textOf(data) : undefined
  if (content !== undefined) {
    media.texts += 1
    text.add(content)
    return
  }
  media.files += 1
  const file = type === undefined || documentFormatOf(type, filename) !== "pdf" ? undefined : DataUrl.bytesOf(data)
  if (file !== undefined) media.furtherPages += media.pdfPages.of(file) - 1
}

const addToolCall = (call: ToolCall, text: TokenEstimator.TokenEstimator): void => {
  text.add(call.id)
  if (call.type === "function") {
    text.add(call.function.name)
    text.add(call.function.arguments)
  } else {
    text.add(call.custom.name)
    text.add(call.custom.input)
  }
  if (call.extra_content !== undefined && call.extra_content !== null) text.add(writeExactly(call.extra_content))
}
