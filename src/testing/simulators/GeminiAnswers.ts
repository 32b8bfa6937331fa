import type { Json } from "../../provider/Json.ts"

/** What the simulated model does with one call. */
export type GeminiReply = GeminiAnswer | GeminiRefusal

export interface GeminiAnswer {
  readonly _tag: "Answer"
  /** Pieces, each a chunk of its own. */
  readonly thoughts?: ReadonlyArray<string>
  readonly text?: ReadonlyArray<string>
  /** Each a whole part in a chunk of its own; the first one carries the signature of all. */
  readonly calls?: ReadonlyArray<{ readonly name: string; readonly args: Json }>
  /** STOP, also with calls, unless said otherwise. */
  readonly finish?: string
  /** Blocks the prompt: there are no candidates at all. */
  readonly blocked?: string
  readonly usage?: Partial<GeminiUsage>
  /** The connection breaks after so many chunks. */
  readonly cutAfter?: number
  /** An error object takes the place of the chunk with this number, counted from 0. */
  readonly failAt?: { readonly chunk: number; readonly refusal: GeminiRefusal }
}

export interface GeminiUsage {
  /** Cached tokens included. */
  readonly promptTokenCount: number
  readonly cachedContentTokenCount: number
  readonly candidatesTokenCount: number
  readonly thoughtsTokenCount: number
}

export interface GeminiRefusal {
  readonly _tag: "Refusal"
  readonly code: number
  readonly status: string
  readonly message: string
  readonly details?: ReadonlyArray<Json>
  readonly headers?: Readonly<Record<string, string>>
}

export const refusal = (
  code: number,
  status: string,
  message: string,
  details?: ReadonlyArray<Json>
): GeminiRefusal => ({ _tag: "Refusal", code, status, message, ...(details !== undefined && { details }) })

/** The API's own failures, by the fault behind them. */
export const refusals = {
  invalidKey: refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }
  ]),
  noKey: refusal(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."),
  noModel: refusal(404, "NOT_FOUND", "models/unknown is not found for API version v1beta."),
  tooLong: refusal(
    400,
    "INVALID_ARGUMENT",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
  ),
  perMinute: refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 7.5s.", [
    quotaFailure("GenerateRequestsPerMinutePerProjectPerModel"),
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7.5s" }
  ]),
  perDayOfModel: refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 20s.", [
    quotaFailure("GenerateRequestsPerDayPerProjectPerModel"),
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "20s" }
  ]),
  perDay: refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
    quotaFailure("GenerateRequestsPerDayPerProject")
  ]),
  overloaded: refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
  internal: refusal(500, "INTERNAL", "An internal error has occurred."),
  deadline: refusal(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.")
} as const

function quotaFailure(quotaId: string): Json {
  return { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] }
}

/** The body of a refusal. */
export const errorBody = ({ code, details, message, status }: GeminiRefusal): Json => ({
  error: { code, message, status, ...(details !== undefined && { details }) }
})

export interface Issued {
  readonly signature: () => string
  readonly callId: () => string
  readonly modelVersion: string
}

/** The chunks of an answer as a stream sends them. */
export const chunksOf = (answer: GeminiAnswer, issued: Issued): ReadonlyArray<Json> => {
  const usage = usageOf(answer)
  if (answer.blocked !== undefined) {
    return [{ promptFeedback: { blockReason: answer.blocked }, usageMetadata: { promptTokenCount: usage.prompt } }]
  }
  const parts = partsOf(answer, issued)
  const finishReason = answer.finish ?? "STOP"
  return parts.map((part, at) => {
    const isLast = at === parts.length - 1
    return {
      candidates: [{ content: { parts: [part], role: "model" }, ...(isLast && { finishReason }), index: 0 }],
      usageMetadata: isLast ? usage.final : { promptTokenCount: usage.prompt, totalTokenCount: usage.prompt },
      modelVersion: issued.modelVersion,
      responseId: "simulated"
    }
  })
}

/** The same as one object. */
export const wholeOf = (answer: GeminiAnswer, issued: Issued): Json => {
  const usage = usageOf(answer)
  if (answer.blocked !== undefined) return { ...chunksOf(answer, issued)[0] }
  const finishReason = answer.finish ?? "STOP"
  return {
    candidates: [{ content: { parts: partsOf(answer, issued), role: "model" }, finishReason, index: 0 }],
    usageMetadata: usage.final,
    modelVersion: issued.modelVersion,
    responseId: "simulated"
  }
}

/** Without calls, the signature comes last, on text that is empty. */
const partsOf = ({ calls = [], text = [], thoughts = [] }: GeminiAnswer, issued: Issued): ReadonlyArray<Json> => [
  ...thoughts.map((thought) => ({ text: thought, thought: true })),
  ...text.map((piece) => ({ text: piece })),
  ...calls.map(({ args, name }, at) => ({
    functionCall: { id: issued.callId(), name, args },
    ...(at === 0 && { thoughtSignature: issued.signature() })
  })),
  ...(calls.length > 0 ? [] : [text.length > 0 ? { text: "", thoughtSignature: issued.signature() } : { text: "" }])
]

const usageOf = ({ usage = {}, text = [], thoughts = [] }: GeminiAnswer) => {
  const prompt = usage.promptTokenCount ?? 10
  const thoughtsTokenCount = usage.thoughtsTokenCount ?? thoughts.length
  const candidatesTokenCount = usage.candidatesTokenCount ?? text.length
  const final = {
    promptTokenCount: prompt,
    ...(usage.cachedContentTokenCount !== undefined && { cachedContentTokenCount: usage.cachedContentTokenCount }),
    candidatesTokenCount,
    ...(thoughtsTokenCount > 0 && { thoughtsTokenCount }),
    totalTokenCount: prompt + candidatesTokenCount + thoughtsTokenCount
  }
  return { prompt, final }
}
