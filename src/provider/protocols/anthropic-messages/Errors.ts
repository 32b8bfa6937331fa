import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import * as Failures from "../shared/Errors.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../shared/Json.ts"
import type { ErrorResponse } from "../shared/Protocol.ts"

/** Classifies a response whose status is not 2xx. */
export const classify = (response: ErrorResponse): ProviderFailure => {
  const json = parseObject(response.body)
  const retryMillis = Failures.retryAfterMillis(response.headers, response.nowMillis)
  const failure = classifyError(json === undefined ? {} : errorOf(json), response.status, retryMillis)
  // Anthropic's rate limits always carry a retry time; a 429 without one is a spend limit
  const isSpent = response.status === 429 && failure._tag === "RateLimited" && retryMillis === null && isNative(json)
  return isSpent ? { _tag: "QuotaExhausted" } : failure
}

/** Classifies an error event inside a response with a 2xx status. */
export const classifyInBand = (json: Json): ProviderFailure => {
  const error = errorOf(json)
  return classifyError(error, statusByType.get(textAt(error, "type") ?? "") ?? 500, null)
}

/** Proxies in front of the API send errors of other shapes. */
const isNative = (json: Json | undefined): boolean =>
  json?.["type"] === "error" && textAt(objectAt(json, "error"), "type") === "rate_limit_error"

const errorOf = (json: Json): Json => {
  const error = json["error"]
  if (isObject(error)) return error
  return typeof error === "string" ? { message: error } : json
}

const classifyError = (error: Json, status: number, retryMillis: number | null): ProviderFailure => {
  const text = Failures.read(textAt(error, "message"))
  const message = Failures.scrub(text) || "The provider rejected the request."
  const code = textAt(objectAt(error, "details"), "error_code") ?? ""
  if (spentCodes.has(code)) return { _tag: "QuotaExhausted" }
  switch (textAt(error, "type")) {
    case "authentication_error":
    case "permission_error":
      return { _tag: "CredentialRejected" }
    case "billing_error":
      return { _tag: "QuotaExhausted" }
    case "not_found_error":
      return { _tag: "ModelGone" }
    case "request_too_large":
      return { _tag: "ContextLengthExceeded", message }
    case "rate_limit_error":
      return { _tag: "RateLimited", retryAfterMillis: retryMillis }
    case "overloaded_error":
      return { _tag: "Overloaded", retryAfterMillis: retryMillis }
    case "timeout_error":
      return { _tag: "ServerError", status: 504 }
  }
  if (status === 400 || status === 422) {
    if (/credit balance|billing/i.test(text)) return { _tag: "QuotaExhausted" }
    if (/context limit/i.test(text) || Failures.isContextLengthMessage(text)) {
      return { _tag: "ContextLengthExceeded", message }
    }
    if (Failures.isContentPolicyMessage(text)) return { _tag: "ContentPolicy", message }
  }
  return Failures.byStatus(status, { message, param: null }, retryMillis)
}

const spentCodes: ReadonlySet<string> = new Set([
  "contract_spend_limit_reached",
  "enforced_spend_limit_reached",
  "linked_organization_billing_unavailable",
  "linked_organization_spend_limit_reached",
  "organization_on_hold"
])

const statusByType: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["conflict_error", 409],
  ["api_error", 500]
])
