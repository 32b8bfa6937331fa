import type { Effort, Tool, ToolChoice } from "../../domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../provider/Json.ts"
import * as Answers from "../../provider/simulated/Answers.ts"
import type { Prompt } from "../../provider/simulated/Prompt.ts"
import type { Accepted, Refusal } from "./GeminiRules.ts"
import { signatureOfCall, signatureOfText } from "./GeminiSignatures.ts"
import { type Fault, json, type Reply, retryAfterSeconds } from "./Simulator.ts"
import { digest, tokensOf } from "./Tokens.ts"

export const refusalReply = (refusal: Refusal): Reply => json(refusal.code, { error: refusal })

/** Faults that come in place of an answer; the others break one. */
export const faultReply = (fault: Fault, { form }: Accepted): Reply | undefined => {
  switch (fault) {
    case "overloaded":
      return refusalReply(overloaded)
    case "rate-limited":
      return refusalReply(rateLimited)
    case "quota":
      return refusalReply(quota)
    case "unauthorized":
      return refusalReply(invalidKey)
    case "model-gone":
      return refusalReply({
        code: 404,
        status: "NOT_FOUND",
        message: "models/gone is not found for API version v1beta."
      })
    case "invalid":
      return refusalReply({ code: 400, status: "INVALID_ARGUMENT", message: "contents: not like this" })
    case "context-length":
      return refusalReply(tooLong)
    case "content-policy":
      return sent(
        [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 5 } }],
        form
      )
    case "server-error":
      return refusalReply({ code: 500, status: "INTERNAL", message: "An internal error has occurred." })
    case "error-first":
      return sent([{ error: overloaded }], form)
    default:
      return undefined
  }
}

const overloaded: Refusal = { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." }
const rateLimited: Refusal = {
  code: 429,
  status: "RESOURCE_EXHAUSTED",
  message: `You exceeded your current quota. Please retry in ${retryAfterSeconds}s.`,
  details: [
    quotaFailure("GenerateRequestsPerMinutePerProjectPerModel"),
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfterSeconds}s` }
  ]
}
const quota: Refusal = {
  code: 429,
  status: "RESOURCE_EXHAUSTED",
  message: "You exceeded your current quota, please check your plan and billing details.",
  details: [quotaFailure("GenerateRequestsPerDayPerProject")]
}
const invalidKey: Refusal = {
  code: 400,
  status: "INVALID_ARGUMENT",
  message: "API key not valid. Please pass a valid API key.",
  details: [
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }
  ]
}
const tooLong: Refusal = {
  code: 400,
  status: "INVALID_ARGUMENT",
  message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
}

function quotaFailure(quotaId: string): Json {
  return { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] }
}

/** The same answer to the same request; only the cache remembers. */
export const answerTo = (accepted: Accepted, fault: Fault | undefined, cached: Set<string>): Reply => {
  const { form, gemini } = accepted
  const answer = fault === "refusal" ? refused : answerFor(accepted)
  const usage = usageOf(accepted.body, answer, cached)
  const named = { modelVersion: gemini.name, responseId: "simulated" }
  const ending = fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end"
  if (form === "whole") {
    const whole = { ...named, ...candidate(answer.parts, answer.finish), usageMetadata: usage }
    const reply = { ...json(200, whole), ending } as const
    return fault === "malformed-mid" ? { ...reply, chunks: ['{"candidates":['] } : reply
  }
  const pieces = answer.parts.flatMap(piecesOf)
  const chunks = pieces.map((part, at) =>
    at < pieces.length - 1
      ? { ...named, ...candidate([part]), usageMetadata: { promptTokenCount: usage.promptTokenCount } }
      : { ...named, ...candidate([part], answer.finish), usageMetadata: usage }
  )
  if (chunks.length === 0) chunks.push({ ...named, ...candidate([], answer.finish), usageMetadata: usage })
  if (fault === undefined || fault === "refusal") return sent(chunks, form)
  const content = pieces.findIndex((part) => part["thought"] !== true)
  const begun = chunks.slice(0, Math.max(1, Math.min(content + 1, chunks.length - 1)))
  if (fault === "error-mid") return sent([...begun, { error: overloaded }], form)
  const reply = sent(begun, form)
  return fault === "malformed-mid"
    ? { ...reply, chunks: [...reply.chunks, "data: {broken\r\n\r\n"] }
    : { ...reply, ending }
}

/** Lines of events end as they do at the real API; without events, a stream is one list. */
const sent = (chunks: ReadonlyArray<Json>, form: Accepted["form"]): Reply => {
  if (form === "whole") return json(200, chunks[0])
  if (form === "list") return json(200, chunks)
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    chunks: chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`),
    ending: "end"
  }
}

// The answer

interface Answer {
  readonly parts: ReadonlyArray<Json>
  readonly finish: string
  readonly answerTokens: number
  readonly thoughtTokens: number
}

const candidate = (parts: ReadonlyArray<Json>, finishReason?: string): Json => ({
  candidates: [
    {
      ...(parts.length > 0 && { content: { parts, role: "model" } }),
      ...(finishReason !== undefined && { finishReason }),
      index: 0
    }
  ]
})

const refused: Answer = { parts: [], finish: "SAFETY", answerTokens: 0, thoughtTokens: 0 }

const answerFor = (accepted: Accepted): Answer => {
  const { body, gemini, thinks } = accepted
  const config = objectAt(body, "generationConfig")
  const prompt = promptOf(body)
  const { text: full, toolCalls } = Answers.answerTo(askingOf(body), prompt, gemini.name)
  const thoughts = thinks ? Answers.thoughtsFor(effortOf(config), prompt) : ""
  const tokens = tokensOf(full)
  const most = Number(config?.["maxOutputTokens"] ?? tokens.length)
  const isCut = tokens.length > most
  const text = isCut ? tokens.slice(0, most).join("") : full
  const seed = JSON.stringify(body["contents"])
  const calls = toolCalls.map((call, at) => {
    const functionCall = {
      id: digest(`${seed} ${at}`),
      name: call.name,
      args: parseObject(call.arguments) ?? {}
    }
    return { functionCall, ...(thinks && at === 0 && { thoughtSignature: signatureOfCall(functionCall) }) }
  })
  const isShown = objectAt(config, "thinkingConfig")?.["includeThoughts"] === true && thoughts !== ""
  const said = text === "" ? [] : [{ text }]
  const signed = thinks && calls.length === 0 ? [{ text: "", thoughtSignature: signatureOfText(seed) }] : []
  return {
    parts: [...(isShown ? [{ text: thoughts, thought: true }] : []), ...said, ...calls, ...signed],
    // with calls as well
    finish: isCut ? "MAX_TOKENS" : "STOP",
    answerTokens: calls.length > 0 ? tokensOf(JSON.stringify(calls)).length : Math.min(tokens.length, most),
    thoughtTokens: tokensOf(thoughts).length
  }
}

const effortOf = (config: Json | undefined): Effort => {
  const level = textAt(objectAt(config, "thinkingConfig"), "thinkingLevel")?.toLowerCase()
  return levels.find((one) => one === level) ?? "low"
}

const levels: ReadonlyArray<Effort> = ["minimal", "low", "medium", "high"]

const promptOf = (body: Json): Prompt => {
  const parts = listAt(listAt(body, "contents").filter(isObject).at(-1), "parts").filter(isObject)
  return {
    text: parts
      .flatMap((part) => textAt(part, "text") ?? [])
      .join("\n")
      .trim(),
    attachments: parts.flatMap((part) => {
      const mediaType = textAt(objectAt(part, "inlineData"), "mimeType")
      return mediaType === undefined ? [] : [`${mediaType.split("/")[0]} (${mediaType})`]
    }),
    toolResults: parts.flatMap((part) => {
      const response = objectAt(objectAt(part, "functionResponse"), "response")
      if (response === undefined) return []
      return textAt(response, "output") ?? textAt(response, "error") ?? JSON.stringify(response)
    })
  }
}

const askingOf = (body: Json): Answers.Asking => {
  const config = objectAt(body, "generationConfig")
  const schema = config?.["responseJsonSchema"] ?? jsonSchemaOf(config?.["responseSchema"])
  return {
    tools: listAt(body, "tools")
      .filter(isObject)
      .flatMap((tool) => listAt(tool, "functionDeclarations").filter(isObject).map(toolOf)),
    toolChoice: choiceOf(objectAt(objectAt(body, "toolConfig"), "functionCallingConfig")),
    parallelToolCalls: undefined,
    responseFormat:
      schema !== undefined
        ? { type: "json_schema", json_schema: { schema } }
        : config?.["responseMimeType"] === "application/json"
          ? { type: "json_object" }
          : undefined,
    stop: listAt(config, "stopSequences").filter((stop) => typeof stop === "string")
  }
}

const toolOf = (declaration: Json): Tool => {
  const given = declaration["parametersJsonSchema"] ?? jsonSchemaOf(declaration["parameters"])
  const parameters = isObject(given) ? given : { type: "object" }
  return { type: "function", function: { name: textAt(declaration, "name") ?? "", parameters } }
}

const choiceOf = (config: Json | undefined): ToolChoice => {
  if (config?.["mode"] === "NONE") return "none"
  if (config?.["mode"] !== "ANY") return "auto"
  const names = listAt(config, "allowedFunctionNames")
  return names.length === 0 ? "required" : { type: "function", function: { name: names[0] } }
}

/** Types are spelled in capitals there. */
const jsonSchemaOf = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(jsonSchemaOf)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === "type" && typeof value === "string" ? value.toLowerCase() : jsonSchemaOf(value)
    ])
  )
}

// Counting and streaming

/** All of an earlier conversation that this one begins with comes from the cache. */
const usageOf = (body: Json, { answerTokens, thoughtTokens }: Answer, cached: Set<string>) => {
  const head = JSON.stringify([body["tools"], body["systemInstruction"]])
  const contents = listAt(body, "contents")
  const keys = contents.map((_, at) => head + JSON.stringify(contents.slice(0, at + 1)))
  const known = keys.slice(0, -1).findLast((key) => cached.has(key))
  const whole = keys.at(-1) ?? head
  cached.add(whole)
  const promptTokenCount = countOf(whole)
  return {
    promptTokenCount,
    ...(known !== undefined && { cachedContentTokenCount: countOf(known) }),
    candidatesTokenCount: answerTokens,
    ...(thoughtTokens > 0 && { thoughtsTokenCount: thoughtTokens }),
    totalTokenCount: promptTokenCount + answerTokens + thoughtTokens
  }
}

const countOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

/** Text comes in pieces; a function call is always whole. */
const piecesOf = (part: Json): ReadonlyArray<Json> => {
  const text = textAt(part, "text")
  return text === undefined ? [part] : tokensOf(text).map((piece) => ({ ...part, text: piece }))
}
