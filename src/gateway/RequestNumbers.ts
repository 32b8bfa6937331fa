import type { ChatRequest } from "../domain/Chat.ts"
import { InvalidRequest } from "../domain/GatewayError.ts"

interface NumberRule {
  /** Of the field in `ChatRequest`. */
  readonly path: string
  readonly of: (request: ChatRequest) => unknown
  readonly isValid: (value: number) => boolean
  /** Completes the sentence "expected …". */
  readonly expected: string
}

const finite = { isValid: Number.isFinite, expected: "a finite number" }

const whole = (min: number, max = Number.MAX_SAFE_INTEGER): Pick<NumberRule, "isValid" | "expected"> => ({
  isValid: (value) => Number.isInteger(value) && value >= min && value <= max,
  expected: `a whole number from ${min} to ${max}`
})

/** Only compared and recorded, so that it may be a fraction. */
const price = {
  isValid: (value: number) => Number.isFinite(value) && value >= 0,
  expected: "a finite number, at least 0"
}

const between = (min: number, max: number): Pick<NumberRule, "isValid" | "expected"> => ({
  isValid: (value) => value >= min && value <= max,
  expected: `a number from ${min} to ${max}`
})

const rules: ReadonlyArray<NumberRule> = [
  { path: "maxOutputTokens", of: (request) => request.maxOutputTokens, ...whole(1) },
  { path: "temperature", of: (request) => request.temperature, ...finite },
  { path: "topP", of: (request) => request.topP, ...finite },
  { path: "topK", of: (request) => request.topK, ...whole(0) },
  { path: "frequencyPenalty", of: (request) => request.frequencyPenalty, ...between(-2, 2) },
  { path: "presencePenalty", of: (request) => request.presencePenalty, ...between(-2, 2) },
  { path: "seed", of: (request) => request.seed, ...whole(Number.MIN_SAFE_INTEGER) },
  { path: "topLogprobs", of: (request) => request.topLogprobs, ...whole(0, 20) },
  { path: "effort", of: (request) => request.effort, ...whole(1, 100) },
  { path: "reasoning.maxTokens", of: (request) => request.reasoning.maxTokens, ...whole(1) },
  { path: "routing.alpha", of: (request) => request.routing.alpha, ...between(0, 1) },
  {
    path: "routing.maxInputPriceMicroUsdPerMillion",
    of: (request) => request.routing.maxInputPriceMicroUsdPerMillion,
    ...price
  },
  {
    path: "routing.maxOutputPriceMicroUsdPerMillion",
    of: (request) => request.routing.maxOutputPriceMicroUsdPerMillion,
    ...price
  },
  { path: "routing.maxCostMicroUsd", of: (request) => request.routing.maxCostMicroUsd, ...whole(0) }
]

/**
 * Of a request that an application has put together, the first number that no client could send: it may have been computed, and would
 * go into holds and to providers. Other requests were decoded, by an endpoint or by `makeRequest`.
 */
export const invalidNumber = (request: ChatRequest): InvalidRequest | undefined => {
  for (const { expected, isValid, of, path } of rules) {
    const value = of(request)
    if (typeof value !== "number" || isValid(value)) continue
    const message = `Invalid value for '${path}': expected ${expected}, but got ${value}.`
    return new InvalidRequest({ code: "invalid_value", message, param: path })
  }
  return undefined
}
