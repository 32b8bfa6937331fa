import type { ChatRequest, Message } from "../../domain/Chat.ts"
import { classIndex, type PromptClass, promptClasses, textClasses } from "../../domain/PromptClass.ts"
import { isInToolLoop } from "../../domain/ToolLoop.ts"
import { textClassifier } from "./Artefact.ts"
import { featuresOf } from "./Features.ts"
import { applyLinear } from "./Linear.ts"
import { promptText } from "./PromptText.ts"
import * as RecentTexts from "./RecentTexts.ts"
import { softmax } from "./Softmax.ts"

/** Probabilities are whole per mille, so that they can be recorded and read back exactly. */
export const perMille = 1_000

/** What the rest of the request says, as a share of the whole; the text decides about the remainder. */
const share = { toolResult: 0.6, tools: 0.35, image: 0.6, schema: 0.4, longest: 0.6 }

/** Decided, so that the same question in other words has the same class. */
const sharpness = 14

/**
 * Classes that need about as able a model. Only those of the likeliest group count: a share of another one, which a few words
 * change, would decide wherever two models are about as good.
 */
const groups: ReadonlyArray<ReadonlyArray<PromptClass>> = [
  ["extraction", "chat", "translation"],
  ["math", "knowledge"],
  ["code", "reasoning"]
]

/** Texts of which less is known, such as one word, count as `chat` in part: what is asked for in earnest says more. */
const enoughKnown = 600

/** A prompt counts as long from here, fully at four times that. */
const longFromTokens = 16_000

/** Some hundred conversations that take their steps at the same time. */
const recentTexts = RecentTexts.make(1_024, textClasses)

// One text at a time is read, synchronously.
const ofText = new Float64Array(textClasses)

/** The probability of each class of prompt, per mille, in the order of `promptClasses`; they add up to 1,000. */
export const classify = (request: ChatRequest, promptTokens: number): ReadonlyArray<number> => {
  const probabilities = new Array<number>(promptClasses.length).fill(0)
  const text = promptText(request)
  if (!recentTexts.read(text, ofText)) {
    classifyText(text)
    recentTexts.keep(ofText)
  }
  for (let k = 0; k < textClasses; k++) probabilities[k] = ofText[k] ?? 0
  const add = (name: PromptClass, part: number): void => {
    if (part === 0) return
    for (let k = 0; k < probabilities.length; k++) probabilities[k] = (probabilities[k] ?? 0) * (1 - part)
    probabilities[classIndex[name]] = (probabilities[classIndex[name]] ?? 0) + part
  }
  const { messages, responseFormat, tools } = request
  const format = responseFormat?.["type"]
  if (format !== undefined && format !== "text") add("extraction", share.schema)
  if (tools.length > 0) add("tool_use", isInToolLoop(messages) ? share.toolResult : share.tools)
  if (hasImage(messages)) add("vision", share.image)
  if (promptTokens > longFromTokens) {
    add("long_context", share.longest * Math.min(1, (promptTokens - longFromTokens) / (3 * longFromTokens)))
  }
  return rounded(probabilities)
}

/** Writes the probability of each class, as far as the text says it, to `ofText`. */
const classifyText = (text: string): void => {
  const known = Math.min(1, applyLinear(textClassifier(), featuresOf(text), ofText) / enoughKnown)
  softmax(ofText, 0, textClasses, sharpness)
  for (let k = 0; k < textClasses; k++) ofText[k] = known * (ofText[k] ?? 0)
  ofText[classIndex.chat] = (ofText[classIndex.chat] ?? 0) + 1 - known
  keepLikeliestGroup(ofText)
}

/** The most likely class. */
export const likeliest = (classes: ReadonlyArray<number>): PromptClass => {
  let best = 0
  for (let k = 1; k < classes.length; k++) if ((classes[k] ?? 0) > (classes[best] ?? 0)) best = k
  return promptClasses[best] ?? "chat"
}

const keepLikeliestGroup = (probabilities: Float64Array): void => {
  let kept = groups[0] ?? []
  let highest = 0
  for (const group of groups) {
    let sum = 0
    for (const name of group) sum += probabilities[classIndex[name]] ?? 0
    if (sum > highest) {
      highest = sum
      kept = group
    }
  }
  for (let k = 0; k < textClasses; k++) {
    const name = promptClasses[k]
    probabilities[k] = name !== undefined && kept.includes(name) ? (probabilities[k] ?? 0) / highest : 0
  }
}

/** An image of an earlier turn is still part of what is asked about. */
const hasImage = (messages: ReadonlyArray<Message>): boolean =>
  messages.some(
    ({ content, role }) =>
      role === "user" && typeof content !== "string" && content.some(({ type }) => type === "image_url")
  )

/** The largest takes what rounding leaves, so that the sum is exact. */
const rounded = (probabilities: ReadonlyArray<number>): ReadonlyArray<number> => {
  const whole = probabilities.map((value) => Math.round(value * perMille))
  let best = 0
  let sum = 0
  for (let k = 0; k < whole.length; k++) {
    sum += whole[k] ?? 0
    if ((whole[k] ?? 0) > (whole[best] ?? 0)) best = k
  }
  whole[best] = (whole[best] ?? 0) + perMille - sum
  return whole
}
