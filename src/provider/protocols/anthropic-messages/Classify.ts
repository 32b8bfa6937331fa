import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import * as Failures from "../../Failures.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../../Json.ts"
import type { ErrorResponse } from "../../Protocol.ts"

/** An answer whose status is not 2xx. */
export const classify = (response: ErrorResponse): ProviderFailure => {
  const json = parseObject(response.body)
  const retryMillis = Failures.retryAfterMillis(response.headers, response.nowMillis)
  const failure = classifyError(json === undefined ? {} : errorOf(json), response.status, retryMillis)
  // its own limits of rate always say when to come back; what does not is a limit of money
  const isSpent = response.status === 429 && failure._tag === "RateLimited" && retryMillis === null && isNative(json)
  return isSpent ? { _tag: "QuotaExhausted" } : failure
}

/** An error inside an answer that began as a success. */
export const classifyInBand = (json: Json): ProviderFailure => {
  const error = errorOf(json)
  return classifyError(error, statusByType.get(textAt(error, "type") ?? "") ?? 500, null)
}

/** Proxies in front of it have errors of other shapes. */
const isNative = (json: Json | undefined): boolean =>
  json?.["type"] === "error" && textAt(objectAt(json, "error"), "type") === "rate_limit_error"

const errorOf = (json: Json): Json => {
  const error = json["error"]
  if (isObject(error)) return error
  return typeof error === "string" ? { message: error } : json
}

const classifyError = (error: Json, status: number, retryMillis: number | null): ProviderFailure => {
  const said = Failures.read(textAt(error, "message"))
  const message = Failures.scrub(said) || "The provider rejected the request."
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
    if (/credit balance|billing/i.test(said)) return { _tag: "QuotaExhausted" }
    if (/context limit/i.test(said) || Failures.saysContextLength(said)) {
      return { _tag: "ContextLengthExceeded", message }
    }
    if (Failures.saysContentPolicy(said)) return { _tag: "ContentPolicy", message }
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
