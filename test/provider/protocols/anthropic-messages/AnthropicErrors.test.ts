import { describe, expect, it } from "vitest"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"

const failure = (
  status: number,
  type: string,
  message = "x",
  headers: Readonly<Record<string, string>> = {},
  details?: Readonly<Record<string, string>>
): ProviderFailure =>
  anthropicMessages.failure({
    status,
    headers,
    body: JSON.stringify({ type: "error", error: { type, message, details }, request_id: "req_1" }),
    nowMillis: 0
  })

const invalid = (message: string) => failure(400, "invalid_request_error", message)

describe("what an error of Anthropic's means", () => {
  it("by its type", () => {
    const table: ReadonlyArray<readonly [number, string, ProviderFailure["_tag"]]> = [
      [400, "invalid_request_error", "RequestRejected"],
      [401, "authentication_error", "CredentialRejected"],
      [402, "billing_error", "QuotaExhausted"],
      [403, "permission_error", "CredentialRejected"],
      [404, "not_found_error", "ModelGone"],
      [413, "request_too_large", "ContextLengthExceeded"],
      [500, "api_error", "ServerError"],
      [504, "timeout_error", "ServerError"],
      [529, "overloaded_error", "Overloaded"]
    ]
    for (const [status, type, tag] of table) expect([type, failure(status, type)._tag]).toEqual([type, tag])
  })

  it("by its words, where the type says only that the request is wrong", () => {
    expect(invalid("prompt is too long: 210000 tokens > 200000 maximum")._tag).toBe("ContextLengthExceeded")
    expect(invalid("input length and `max_tokens` exceed context limit: 1 + 2 > 2")._tag).toBe("ContextLengthExceeded")
    expect(invalid("Output blocked by content filtering policy")._tag).toBe("ContentPolicy")
    expect(invalid("Your credit balance is too low to access the Anthropic API.")._tag).toBe("QuotaExhausted")
    expect(invalid("messages.0: roles must alternate")).toEqual({
      _tag: "RequestRejected",
      message: "messages.0: roles must alternate",
      param: null
    })
  })

  it("is a limit of rate with a time to come back, and of money without one", () => {
    expect(failure(429, "rate_limit_error", "slow", { "retry-after": "12" })).toEqual({
      _tag: "RateLimited",
      retryAfterMillis: 12_000
    })
    expect(failure(429, "rate_limit_error", "slow")).toEqual({ _tag: "QuotaExhausted" })
    const spent = { error_code: "enforced_spend_limit_reached" }
    expect(failure(429, "rate_limit_error", "slow", { "retry-after": "12" }, spent)).toEqual({ _tag: "QuotaExhausted" })
  })

  it("of a proxy in front is read by its status", () => {
    const proxied = (status: number, body: string) =>
      anthropicMessages.failure({ status, headers: {}, body, nowMillis: 0 })._tag
    expect(proxied(429, "too many")).toBe("RateLimited")
    expect(proxied(429, '{"error":"too many"}')).toBe("RateLimited")
    expect(proxied(502, "<html>")).toBe("ServerError")
    expect(proxied(529, "")).toBe("Overloaded")
    expect(proxied(307, "")).toBe("Redirected")
  })
})
