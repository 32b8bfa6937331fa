import type { Effort, Tool, ToolChoice } from "../../../domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../../provider/protocols/shared/Json.ts"
import * as Answers from "../../../provider/simulated/Answers.ts"
import type { Prompt } from "../../../provider/simulated/Prompt.ts"
import { type InjectedFault, json, jsonBrokenBy, type Reply, retryAfterSeconds } from "../core/Simulator.ts"
import { digest, tokensOf } from "../core/Tokens.ts"
import type { Accepted, Rejection } from "./GeminiRules.ts"
import { signatureOfCall, signatureOfText } from "./GeminiSignatures.ts"

export const rejectionReply = (refusal: Rejection): Reply => json(refusal.code, { error: refusal })

/** Faults in place of a response; the other faults break a response. */
export const faultReply = (fault: InjectedFault, { form }: Accepted): Reply | undefined => {
  switch (fault) {
    case "overloaded":
      return rejectionReply(overloaded)
    case "rate-limited":
      return rejectionReply(rateLimited)
    case "quota":
      return rejectionReply(quota)
    case "unauthorized":
      return rejectionReply(invalidKey)
    case "model-gone":
      return rejectionReply({
        code: 404,
        status: "NOT_FOUND",
        message: "models/gone is not found for API version v1beta."
      })
    case "invalid":
      return rejectionReply({ code: 400, status: "INVALID_ARGUMENT", message: "contents: not like this" })
    case "context-length":
      return rejectionReply(tooLong)
    case "content-policy":
      return sent(
        [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 5 } }],
        form
      )
    case "server-error":
      return rejectionReply({ code: 500, status: "INTERNAL", message: "An internal error has occurred." })
    case "error-first":
      return sent([{ error: overloaded }], form)
    case "error-mid":
      return form === "complete" ? rejectionReply(overloaded) : undefined
    default:
      return undefined
  }
}

const overloaded: Rejection = { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." }
const rateLimited: Rejection = {
  code: 429,
  status: "RESOURCE_EXHAUSTED",
  message: `You exceeded your current quota. Please retry in ${retryAfterSeconds}s.`,
  details: [
    quotaFailure("GenerateRequestsPerMinutePerProjectPerModel"),
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfterSeconds}s` }
  ]
}
const quota: Rejection = {
  code: 429,
  status: "RESOURCE_EXHAUSTED",
  message: "You exceeded your current quota, please check your plan and billing details.",
  details: [quotaFailure("GenerateRequestsPerDayPerProject")]
}
const invalidKey: Rejection = {
  code: 400,
  status: "INVALID_ARGUMENT",
  message: "API key not valid. Please pass a valid API key.",
  details: [
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }
  ]
}
const tooLong: Rejection = {
  code: 400,
  status: "INVALID_ARGUMENT",
  message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
}

function quotaFailure(quotaId: string): Json {
  return { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] }
}

/** The same response to the same request, except for cache counts. */
export const answerTo = (accepted: Accepted, fault: InjectedFault | undefined, cached: Set<string>): Reply => {
  const { form, gemini } = accepted
  const answer = fault === "refusal" ? refused : answerFor(accepted)
  const usage = usageOf(accepted.body, answer, cached)
  const named = { modelVersion: gemini.name, responseId: "simulated" }
  if (form === "complete") {
    return jsonBrokenBy(fault, { ...named, ...candidate(answer.parts, answer.finish), usageMetadata: usage })
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
  if (form === "list") return jsonBrokenBy(fault, chunks)
  const reply = sent(begun, form)
  return fault === "malformed-mid"
    ? { ...reply, chunks: [...reply.chunks, "data: {broken\r\n\r\n"] }
    : { ...reply, ending: fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end" }
}

/** Line ends are those of the real API; without server-sent events, a stream is one list. */
const sent = (chunks: ReadonlyArray<Json>, form: Accepted["form"]): Reply => {
  if (form === "complete") return json(200, chunks[0])
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
  readonly reasoningTokens: number
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

const refused: Answer = { parts: [], finish: "SAFETY", answerTokens: 0, reasoningTokens: 0 }

const answerFor = (accepted: Accepted): Answer => {
  const { body, gemini, reasons } = accepted
  const config = objectAt(body, "generationConfig")
  const prompt = promptOf(body)
  const { text: full, toolCalls } = Answers.answerTo(answerFieldsOf(body), prompt, gemini.name)
  const reasoning = reasons ? Answers.reasoningFor(effortOf(config), prompt) : ""
  const tokens = tokensOf(full)
  const cap = Number(config?.["maxOutputTokens"] ?? tokens.length)
  const isCut = tokens.length > cap
  const text = isCut ? tokens.slice(0, cap).join("") : full
  const seed = JSON.stringify(body["contents"])
  const calls = toolCalls.map((call, at) => {
    const functionCall = {
      id: digest(`${seed} ${at}`),
      name: call.name,
      args: parseObject(call.arguments) ?? {}
    }
    return { functionCall, ...(reasons && at === 0 && { thoughtSignature: signatureOfCall(functionCall) }) }
  })
  const isShown = objectAt(config, "thinkingConfig")?.["includeThoughts"] === true && reasoning !== ""
  const texts = text === "" ? [] : [{ text }]
  const signed = reasons && calls.length === 0 ? [{ text: "", thoughtSignature: signatureOfText(seed) }] : []
  return {
    parts: [...(isShown ? [{ text: reasoning, thought: true }] : []), ...texts, ...calls, ...signed],
    // also for responses with calls
    finish: isCut ? "MAX_TOKENS" : "STOP",
    answerTokens: calls.length > 0 ? tokensOf(JSON.stringify(calls)).length : Math.min(tokens.length, cap),
    reasoningTokens: tokensOf(reasoning).length
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

const answerFieldsOf = (body: Json): Answers.AnswerFields => {
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

/** Gemini's types are in upper case. */
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

/** The longest earlier conversation that is a prefix of this one counts as cached. */
const usageOf = (body: Json, { answerTokens, reasoningTokens }: Answer, cached: Set<string>) => {
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
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    totalTokenCount: promptTokenCount + answerTokens + reasoningTokens
  }
}

const countOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

/** Text comes in pieces; a function call is always complete. */
const piecesOf = (part: Json): ReadonlyArray<Json> => {
  const text = textAt(part, "text")
  return text === undefined ? [part] : tokensOf(text).map((piece) => ({ ...part, text: piece }))
}
