import { describe, expect, it } from "vitest"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import * as Gemini from "../../../../src/provider/protocols/gemini/Gemini.ts"

const classify = (status: number, body: unknown, headers: Record<string, string> = {}): ProviderFailure =>
  Gemini.make("json").failure({
    status,
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
    nowMillis: 0
  })

const error = (code: number, status: string, message: string, details?: ReadonlyArray<unknown>) => ({
  error: { code, status, message, ...(details && { details }) }
})
const quota = (...ids: ReadonlyArray<string>) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: ids.map((quotaId) => ({ quotaId }))
})
const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })
const exhausted = (...details: ReadonlyArray<unknown>) => error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", details)

describe("what an error of Gemini's means", () => {
  const table: ReadonlyArray<readonly [string, number, unknown, ProviderFailure["_tag"]]> = [
    [
      "a wrong key as 400",
      400,
      error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
      "CredentialRejected"
    ],
    [
      "a wrong key by its reason",
      400,
      error(400, "INVALID_ARGUMENT", "no", [{ reason: "API_KEY_INVALID" }]),
      "CredentialRejected"
    ],
    ["no permission", 403, error(403, "PERMISSION_DENIED", "no"), "CredentialRejected"],
    ["an expired token", 401, error(401, "UNAUTHENTICATED", "no"), "CredentialRejected"],
    ["no billing", 400, error(400, "FAILED_PRECONDITION", "User location is not supported."), "CredentialRejected"],
    ["an unknown model", 404, error(404, "NOT_FOUND", "models/x is not found"), "ModelGone"],
    [
      "too long a prompt",
      400,
      error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
      ),
      "ContextLengthExceeded"
    ],
    ["anything else that is invalid", 400, error(400, "INVALID_ARGUMENT", "Unknown name"), "RequestRejected"],
    ["overload", 503, error(503, "UNAVAILABLE", "The model is overloaded."), "Overloaded"],
    ["its own deadline", 504, error(504, "DEADLINE_EXCEEDED", "late"), "ServerError"],
    ["a defect", 500, error(500, "INTERNAL", "oops"), "ServerError"],
    ["a page of a proxy", 502, "<html>", "ServerError"],
    ["a stream's refusal in a list", 403, [error(403, "PERMISSION_DENIED", "no")], "CredentialRejected"],
    ["a day's quota of the project", 429, exhausted(quota("GenerateRequestsPerDayPerProject")), "QuotaExhausted"],
    [
      "money that ran out",
      429,
      error(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
      "QuotaExhausted"
    ],
    ["a redirect", 307, "", "Redirected"]
  ]

  it("is known by status, reason and details", () => {
    for (const [name, status, body, tag] of table) expect([name, classify(status, body)._tag]).toEqual([name, tag])
  })

  it("is a wait where a rate was exceeded, as long as it is told", () => {
    expect(classify(429, exhausted(quota("GenerateRequestsPerMinutePerProjectPerModel"), retryInfo("7.5s")))).toEqual({
      _tag: "RateLimited",
      retryAfterMillis: 7500
    })
    expect(classify(429, exhausted(), { "retry-after": "3" })).toEqual({ _tag: "RateLimited", retryAfterMillis: 3000 })
    expect(classify(429, "")).toEqual({ _tag: "RateLimited", retryAfterMillis: null })
    expect(classify(503, error(503, "UNAVAILABLE", "busy", [retryInfo("2s")]))).toEqual({
      _tag: "Overloaded",
      retryAfterMillis: 2000
    })
    expect(classify(429, exhausted(retryInfo("soon")))).toEqual({ _tag: "RateLimited", retryAfterMillis: null })
  })

  it("keeps only the model away whose quota of the day is used up, and longer than the named wait", () => {
    const failure = classify(
      429,
      exhausted(quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retryInfo("20s"))
    )
    expect(failure).toEqual({ _tag: "RateLimited", retryAfterMillis: 3_600_000 })
  })

  it("is told without what could be a secret", () => {
    const failure = classify(
      400,
      error(400, "INVALID_ARGUMENT", "bad https://host/x AIzaSyA1234567890abcdef for me@host.com")
    )
    expect(failure).toEqual({
      _tag: "RequestRejected",
      message: "bad [address] [redacted] for [redacted]",
      param: null
    })
  })
})
