import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { parse } from "../../../wire/JsonBounds.ts"
import * as Failures from "../../Failures.ts"
import { isObject, type Json, listAt, objectAt, textAt } from "../../Json.ts"
import type { ErrorResponse } from "../../Protocol.ts"

/** An answer whose status is not 2xx. */
export const classify = (response: ErrorResponse): ProviderFailure =>
  classifyError(
    errorOf(response.body),
    response.status,
    Failures.retryAfterMillis(response.headers, response.nowMillis)
  )

/** An error object inside an answer that began as a success: it has no status but what it says itself. */
export const classifyInBand = (error: unknown): ProviderFailure => {
  const inner: Json = isObject(error) ? error : { message: String(error) }
  return classifyError(inner, statusOf(inner), null)
}

/** Streams that are not sent as events wrap their error in a list. */
const errorOf = (body: string): Json => {
  const value = parse(body)
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(first)) return {}
  return objectAt(first, "error") ?? first
}

const classifyError = (error: Json, status: number, headerMillis: number | null): ProviderFailure => {
  const said = Failures.read(textAt(error, "message"))
  const message = Failures.scrub(said) || "The provider rejected the request."
  const details = listAt(error, "details").filter(isObject)
  const retryMillis = retryInfoMillis(details) ?? headerMillis
  const reasons = new Set(details.flatMap((detail) => textAt(detail, "reason") ?? []))
  if (reasons.has("API_KEY_INVALID") || reasons.has("API_KEY_EXPIRED")) return { _tag: "CredentialRejected" }
  switch (error["status"]) {
    case "RESOURCE_EXHAUSTED":
      return exhausted(said, details, retryMillis)
    case "UNAUTHENTICATED":
    case "PERMISSION_DENIED":
      return { _tag: "CredentialRejected" }
    // billing that is not set up, a country that is not served: the account's fault, not the request's
    case "FAILED_PRECONDITION":
      return { _tag: "CredentialRejected" }
    case "NOT_FOUND":
      return { _tag: "ModelGone" }
    case "UNAVAILABLE":
      return { _tag: "Overloaded", retryAfterMillis: retryMillis }
    case "DEADLINE_EXCEEDED":
      return { _tag: "ServerError", status: 504 }
    case "INTERNAL":
    case "UNKNOWN":
    case "CANCELLED":
    case "ABORTED":
      return { _tag: "ServerError", status: status >= 400 ? status : 500 }
  }
  if (status === 429) return exhausted(said, details, retryMillis)
  if (status === 400 || status === 422) {
    if (/api key (?:not valid|expired|not found)/i.test(said)) return { _tag: "CredentialRejected" }
    if (Failures.saysContextLength(said)) return { _tag: "ContextLengthExceeded", message }
    if (Failures.saysContentPolicy(said)) return { _tag: "ContentPolicy", message }
  }
  return Failures.byStatus(status, { message, param: null }, retryMillis)
}

/**
 * Rates come back in seconds. A day's quota of one model keeps only that model away; one of the whole project, or money that
 * has run out, takes the credential out.
 */
const exhausted = (said: string, details: ReadonlyArray<Json>, retryMillis: number | null): ProviderFailure => {
  const quotas = details
    .filter((detail) => typeNameOf(detail) === "google.rpc.QuotaFailure")
    .flatMap((detail) => listAt(detail, "violations"))
    .flatMap((violation) => (isObject(violation) ? (textAt(violation, "quotaId") ?? []) : []))
  const daily = quotas.filter((quota) => /PerDay/i.test(quota))
  if (daily.some((quota) => !/PerModel|PerBaseModel/i.test(quota)) || saysMoneyIsGone(said)) {
    return { _tag: "QuotaExhausted" }
  }
  return {
    _tag: "RateLimited",
    retryAfterMillis: daily.length === 0 ? retryMillis : Math.max(retryMillis ?? 0, dailyQuotaMillis)
  }
}

/** A day's quota comes back at midnight somewhere; until then the named wait is of no use. */
const dailyQuotaMillis = 3_600_000

const saysMoneyIsGone = (message: string): boolean =>
  /spend(?:ing)? (?:cap|limit)/i.test(message) ||
  Failures.follows(message, /prepa(?:id|yment)|credits?/gi, /depleted|exhausted|used up/i) ||
  Failures.follows(message, /billing account/gi, /disabled|closed/i)

/** A duration is spelled in seconds: `20.04s`. */
const retryInfoMillis = (details: ReadonlyArray<Json>): number | null => {
  const info = details.find((detail) => typeNameOf(detail) === "google.rpc.RetryInfo")
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textAt(info, "retryDelay") ?? "")?.[1]
  return seconds === undefined
    ? null
    : Failures.retryAfterMillis({ "retry-after-ms": String(Number(seconds) * 1000) }, 0)
}

/** `type.googleapis.com/google.rpc.RetryInfo` and the like. */
const typeNameOf = (detail: Json): string => (textAt(detail, "@type") ?? "").split("/").at(-1) ?? ""

const statusOf = (error: Json): number => {
  const code = error["code"]
  return typeof code === "number" && code >= 400 && code <= 599 ? code : 500
}
