import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import * as Failures from "../shared/Errors.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../shared/Json.ts"
import type { ErrorResponse } from "../shared/Protocol.ts"

/** Classifies a response whose status is not 2xx. */
export const classify = (response: ErrorResponse): ProviderFailure => {
  const json = parseObject(response.body)
  const retryMillis = Failures.retryAfterMillis(response.headers, response.nowMillis)
  return classifyError(json === undefined ? {} : errorOf(json), response.status, retryMillis)
}

/** Classifies an error object inside a response with a 2xx status; its status is taken from the object itself. */
export const classifyInBand = (error: unknown): ProviderFailure => {
  const inner: Json = isObject(error) ? error : { message: String(error) }
  return classifyError(inner, statusOf(inner), null)
}

/** The error object of a response or chunk, if there is one. */
export const inBandError = (json: Json): unknown => {
  const error = json["error"]
  if (error !== undefined && error !== null && error !== "" && error !== false) return error
  return json["object"] === "error" ? json : undefined
}

/** Most vendors send an object under `error`; some send a string there, or the fields at the top level. */
const errorOf = (json: Json): Json => {
  const error = json["error"]
  if (isObject(error)) return error
  return typeof error === "string" ? { message: error, code: json["code"], type: json["type"] } : json
}

const classifyError = (error: Json, status: number, retryMillis: number | null): ProviderFailure => {
  const words = [error["code"], error["type"], objectAt(error, "metadata")?.["reason"]].flatMap((word) =>
    typeof word === "string" ? [word.toLowerCase()] : []
  )
  const text = Failures.read(textAt(error, "message") ?? textAt(error, "detail"))
  const message = Failures.scrub(text) || "The provider rejected the request."
  const hasCode = (known: ReadonlySet<string>): boolean => words.some((word) => known.has(word))
  if (hasCode(inFlightCodes)) return { _tag: "RateLimited", retryAfterMillis: retryMillis }
  if (hasCode(quotaCodes) || status === 402) return { _tag: "QuotaExhausted" }
  if (hasCode(contextCodes)) return { _tag: "ContextLengthExceeded", message }
  if (hasCode(policyCodes)) return { _tag: "ContentPolicy", message }
  if (hasCode(modelCodes)) return { _tag: "ModelGone" }
  if (hasCode(credentialCodes)) return { _tag: "CredentialRejected" }
  if (hasCode(overloadCodes)) return { _tag: "Overloaded", retryAfterMillis: retryMillis }
  if (hasCode(rateCodes)) return { _tag: "RateLimited", retryAfterMillis: retryMillis }
  if (status === 400 || status === 422) {
    if (/(?:incorrect|invalid) api[ _-]?key/i.test(text)) return { _tag: "CredentialRejected" }
    if (Failures.isContextLengthMessage(text)) return { _tag: "ContextLengthExceeded", message }
    if (Failures.isContentPolicyMessage(text)) return { _tag: "ContentPolicy", message }
  }
  if (status === 403 && /flagged/i.test(text)) return { _tag: "ContentPolicy", message }
  if (status === 429 && /insufficient (?:balance|credit|quota|fund)/i.test(text)) return { _tag: "QuotaExhausted" }
  return Failures.byStatus(status, { message, param: paramOf(error) }, retryMillis)
}

const paramOf = (error: Json): string | null => {
  const param = textAt(error, "param")
  return param !== undefined && /^[\w.[\]-]{1,120}$/.test(param) ? param : null
}

const statusOf = (error: Json): number => {
  for (const key of ["status", "status_code", "code", "http_code"]) {
    const status = Number(error[key] ?? Number.NaN)
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  const type = textAt(error, "type") ?? textAt(error, "code") ?? ""
  for (const [pattern, status] of statusByType) if (pattern.test(type)) return status
  return 500
}

const statusByType: ReadonlyArray<readonly [RegExp, number]> = [
  [/invalid_?request|bad_?request|validation/i, 400],
  [/authentication|unauthorized|permission|forbidden/i, 401],
  [/not_?found/i, 404],
  [/rate_?limit|too_?many/i, 429],
  [/overload|unavailable/i, 503]
]

const quotaCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "quota_exceeded",
  "credit_balance_exhausted",
  "organization_spend_limit_exceeded",
  "project_spend_limit_exceeded",
  "organization_usage_limit_exceeded",
  "billing_hard_limit_reached",
  "billing_not_active",
  "billing_error",
  "insufficient_balance",
  "insufficient_credits",
  "insufficient_funds",
  "exceeded_current_quota_error",
  "account_deactivated",
  "arrearage",
  "weight_exceeds_budget",
  "enforced_spend_limit_reached"
])
/** Budget reserved by running calls, which is released when they end. */
const inFlightCodes: ReadonlySet<string> = new Set(["in_flight_budget_exhausted"])
const contextCodes: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "string_above_max_length",
  "max_tokens_exceeded",
  "prompt_too_long",
  "request_too_large"
])
const policyCodes: ReadonlySet<string> = new Set([
  "content_policy_violation",
  "content_filter",
  "content_filter_error",
  "content_policy",
  "invalid_prompt",
  "moderation_blocked",
  "moderation",
  "data_inspection_failed",
  "datainspectionfailed",
  "sensitive_content",
  "safety_violation",
  "image_content_policy_violation"
])
const modelCodes: ReadonlySet<string> = new Set([
  "model_not_found",
  "model_not_available",
  "model_decommissioned",
  "model_deprecated",
  "deployment_not_found",
  "invalid_model"
])
const credentialCodes: ReadonlySet<string> = new Set([
  "invalid_api_key",
  "authentication_error",
  "invalid_authentication_error",
  "incorrect_api_key_error",
  "permission_denied_error",
  "permission_error",
  "unauthorized"
])
const overloadCodes: ReadonlySet<string> = new Set([
  "server_is_overloaded",
  "overloaded_error",
  "overloaded",
  "engine_overloaded",
  "engine_overloaded_error",
  "service_unavailable",
  "model_overloaded",
  "capacity_exceeded"
])
const rateCodes: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "rate_limit_reached_error",
  "rate_limited",
  "slow_down",
  "too_many_requests",
  "tokens",
  "requests"
])
