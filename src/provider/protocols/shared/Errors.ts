import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ResponseHeaders } from "./Protocol.ts"

/** Shared by all protocols for reading an error response: the retry delay, and the message that may be shown. */

/** The maximum retry delay that a provider may set. */
const maxRetryAfterMillis = 24 * 60 * 60 * 1000

/** From `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date; `null` when there is no valid one. */
export const retryAfterMillis = (headers: ResponseHeaders, nowMillis: number): number | null => {
  const exact = Number(one(headers["retry-after-ms"]) ?? "x")
  if (isWait(exact)) return bounded(exact)
  const value = one(headers["retry-after"])?.trim()
  if (value === undefined || value === "") return null
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return isWait(seconds) ? bounded(seconds * 1000) : null
  const date = hasTimeOfDay.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : bounded(Math.max(0, date - nowMillis))
}

/** Every form of an HTTP date has one; without it JavaScript takes nearly any short text with a number for a date. */
const hasTimeOfDay = /\d\d:\d\d:\d\d/

export const one = (header: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0]

/** Maximum length of a provider's text that is passed on. */
const maxMessageCharacters = 500

/** Makes a provider's text safe to show: one line, without addresses, keys, account names or similar tokens. */
export const scrub = (message: string): string => {
  const clean = message
    .slice(0, 4 * maxMessageCharacters)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are what is removed
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(/\barn:aws[\w-]*:[^\s"'<>,)\]]+/gi, "[redacted]")
    // linear: at most 2,000 characters
    .replace(/\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>)\]]+/gi, "[address]")
    .replace(/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, "[address]")
    // linear: at most 2,000 characters
    .replace(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, "[redacted]")
    .replace(/\b(?:bearer|basic)\s+[\w.~+/=*-]+/gi, "[redacted]")
    .replace(
      // linear: at most 2,000 characters
      /\b(?:sk|pk|rk|key|org|proj|user|acct|req|gsk|xai|fw|csk|tgp|pplx|nvapi|hf|AIza|AKIA|ASIA)[-_]?[A-Za-z0-9*][\w*.-]{7,}/g,
      redactIfSecret
    )
    .replace(/[A-Za-z0-9_+/=*-]{20,}/g, redactIfSecret)
    .replace(/ {2,}/g, " ")
    .trim()
  return clean.length > maxMessageCharacters ? `${clean.slice(0, maxMessageCharacters - 1)}…` : clean
}

/** Classifies by status alone, where no error code is more specific. A rejected request carries the provider's message. */
export const byStatus = (
  status: number,
  rejected: { readonly message: string; readonly param: string | null },
  retryMillis: number | null
): ProviderFailure => {
  if (status >= 300 && status < 400) return { _tag: "Redirected" }
  switch (status) {
    case 400:
    case 422:
      return { _tag: "RequestRejected", ...rejected }
    case 401:
    case 403:
      return { _tag: "CredentialRejected" }
    case 402:
      return { _tag: "QuotaExhausted" }
    case 404:
    case 410:
      return { _tag: "ModelGone" }
    case 413:
      return { _tag: "ContextLengthExceeded", message: rejected.message }
    case 429:
      return { _tag: "RateLimited", retryAfterMillis: retryMillis }
    case 503:
    case 529:
      return { _tag: "Overloaded", retryAfterMillis: retryMillis }
    default:
      return { _tag: "ServerError", status }
  }
}

/** How much of a provider's text is read; it may be a megabyte long and repeat the prompt. */
const maxReadCharacters = 4_096

/** The part of a provider's message that is read. */
export const read = (message: string | undefined): string => (message ?? "").slice(0, maxReadCharacters)

/** Providers report these errors in message texts more often than in codes. */
export const isContextLengthMessage = (message: string): boolean =>
  /context[ _-]?(?:length|window|size|limit)|maximum (?:prompt|input|context|sequence)|too many (?:input |prompt )?tokens|reduce the length/i.test(
    message
  ) ||
  follows(message, /prompt|input|request/gi, / too (?:long|large|many tokens)/i) ||
  follows(message, /exceeds? the (?:maximum|max|model)/gi, /tokens|length/i)

export const isContentPolicyMessage = (message: string): boolean =>
  /content (?:management |usage |safety )?polic(?:y|ies)|content[ _-]?filter|safety (?:system|polic|filter)|usage polic(?:y|ies)|flagged (?:by|as|for)|inappropriate content|moderation/i.test(
    message
  ) || follows(message, /violat/gi, /polic/i)

/** Maximum distance between the two halves of a phrase. */
const maxBetweenCharacters = 60

/** Whether `second` matches soon after `first` (a global expression) in the same sentence. */
export const follows = (message: string, first: RegExp, second: RegExp): boolean => {
  for (const { 0: found, index } of message.matchAll(first)) {
    const start = index + found.length
    const near = message.slice(start, start + maxBetweenCharacters)
    const stop = near.indexOf(".")
    if (second.test(stop === -1 ? near : near.slice(0, stop))) return true
  }
  return false
}

const isWait = (value: number): boolean => Number.isFinite(value) && value >= 0

const bounded = (millis: number): number => Math.min(maxRetryAfterMillis, Math.ceil(millis))

/** Ordinary words contain no digits or asterisks, and paths of an API none but in its version; keys, ids and their masked forms do. */
const redactIfSecret = (word: string): string => (/[0-9*]/.test(word) && !apiPath.test(word) ? "[redacted]" : word)

const apiPath = /^(?:\/(?:[a-z_-]+|v\d{1,2}(?:(?:alpha|beta)\d?)?))+$/
