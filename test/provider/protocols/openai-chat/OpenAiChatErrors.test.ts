import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import { ProxyError } from "../../../../src/egress/Agent.ts"
import * as OpenAiChat from "../../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../../src/provider/protocols/openai-chat/Quirks.ts"
import * as Failures from "../../../../src/provider/protocols/shared/Errors.ts"
import { fromSocketError } from "../../../../src/provider/transport/SocketError.ts"

const nowMillis = Date.UTC(2026, 0, 1)
const classify = (status: number, error: unknown, headers: Record<string, string> = {}): ProviderFailure =>
  OpenAiChat.make(openAi).failure({
    status,
    headers,
    body: typeof error === "string" ? error : JSON.stringify({ error }),
    nowMillis
  })

describe("what an error answer means", () => {
  const table: ReadonlyArray<readonly [string, number, unknown, ProviderFailure["_tag"]]> = [
    ["rate limit", 429, { code: "rate_limit_exceeded", message: "slow" }, "RateLimited"],
    ["rate limit without a body", 429, "", "RateLimited"],
    ["money ran out", 429, { type: "insufficient_quota", code: "insufficient_quota" }, "QuotaExhausted"],
    ["spend limit", 429, { code: "project_spend_limit_exceeded" }, "QuotaExhausted"],
    ["balance in words", 429, { message: "Insufficient balance, please recharge" }, "QuotaExhausted"],
    ["payment required", 402, { message: "pay" }, "QuotaExhausted"],
    ["in-flight budget", 402, { code: 402, metadata: { reason: "in_flight_budget_exhausted" } }, "RateLimited"],
    ["engine overloaded", 429, { type: "engine_overloaded_error" }, "Overloaded"],
    ["unauthorized", 401, { code: "invalid_api_key" }, "CredentialRejected"],
    ["forbidden", 403, { message: "region" }, "CredentialRejected"],
    [
      "moderated",
      403,
      { message: "Your chosen model requires moderation and your input was flagged" },
      "ContentPolicy"
    ],
    ["a wrong key as 400", 400, { message: "Incorrect API key provided: xai-1***" }, "CredentialRejected"],
    ["model unknown", 404, { code: "model_not_found" }, "ModelGone"],
    ["model gone as 400", 400, { code: "model_decommissioned" }, "ModelGone"],
    ["context by code", 400, { code: "context_length_exceeded", message: "m" }, "ContextLengthExceeded"],
    [
      "context in words",
      400,
      { message: "This model's maximum context length is 8192 tokens" },
      "ContextLengthExceeded"
    ],
    ["prompt too long", 400, { message: "prompt is too long: 9 tokens > 8" }, "ContextLengthExceeded"],
    ["payload too large", 413, "<html>", "ContextLengthExceeded"],
    ["tokens per minute as 413", 413, { code: "rate_limit_exceeded", type: "tokens" }, "RateLimited"],
    ["policy by code", 400, { code: "content_policy_violation", message: "m" }, "ContentPolicy"],
    [
      "policy in words",
      400,
      { message: "The response was filtered due to content management policy" },
      "ContentPolicy"
    ],
    ["invalid", 400, { message: "bad", param: "tools[0].type" }, "RequestRejected"],
    ["unprocessable", 422, { detail: "bad" }, "RequestRejected"],
    ["server error", 500, { type: "server_error" }, "ServerError"],
    ["bad gateway", 502, "<html>", "ServerError"],
    ["gateway timeout", 504, "", "ServerError"],
    ["unavailable", 503, {}, "Overloaded"],
    ["overloaded", 529, {}, "Overloaded"],
    ["redirect", 302, "", "Redirected"],
    ["not permanent", 307, "", "Redirected"],
    ["odd", 418, "", "ServerError"]
  ]
  for (const [name, status, error, tag] of table) it(name, () => expect(classify(status, error)._tag).toBe(tag))

  it("the message is shown scrubbed, the param only when it is a path", () => {
    const message = `see https://api.acme.com/keys?k=1 for sk-abcdef1234567890, org-9a8b7c6d5e4f, 10.0.0.1:99 and me@acme.com\r\n\u0000${"long ".repeat(300)}`
    const failure = classify(400, { message, param: "messages[2].content" })
    expect(failure).toMatchObject({ _tag: "RequestRejected", param: "messages[2].content" })
    const shown = "message" in failure ? failure.message : ""
    expect(shown.length).toBeLessThanOrEqual(500)
    expect(shown).not.toMatch(/acme|sk-|9a8b|10\.0\.0|@|[\r\n\0]/)
    expect(classify(400, { message: "x", param: "<script> alert" })).toMatchObject({ param: null })
  })

  it("ordinary words survive the scrubbing", () => {
    for (const words of [
      "Invalid value for 'temperature': must be between 0 and 2.",
      "tools[0].function.name is required, see max_completion_tokens",
      "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. Use /v1/responses instead.",
      "POST /v1beta/models and /openai/v1/chat/completions"
    ]) {
      expect(Failures.scrub(words)).toBe(words)
    }
  })

  it("what has the slashes of a path but not its words is taken for a secret", () => {
    for (const secret of [
      "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      "/v1/projects/1234567890/locations",
      "/v1/accounts/a1b2c3d4e5f6/keys",
      "/AbCdEfGhIjKl12/MnOpQrStUvWx",
      "/v1/chat/completions/9f8e7d6c5b4a3f2e1d0c",
      "/v1/files/proj-123456789",
      "/v1/v12345678901234567890"
    ]) {
      expect(Failures.scrub(`at ${secret} there`), secret).toContain("[redacted]")
      expect(Failures.scrub(`at ${secret} there`), secret).not.toContain(secret)
    }
  })

  it("no scrubbed text is long or has line ends, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 4000 }), (text) => {
        const shown = Failures.scrub(text)
        expect(shown.length).toBeLessThanOrEqual(500)
        expect(shown).not.toMatch(/[\r\n\u2028\u2029\0]/)
      })
    )
  })
})

describe("Retry-After", () => {
  const table: ReadonlyArray<readonly [Record<string, string>, number | null]> = [
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "99999999999" }, 86_400_000],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": "soon" }, null],
    // of a proxy that has joined two headers, or has a unit of its own: no dates, although they can be read as some of 2001
    [{ "retry-after": "5, 5" }, null],
    [{ "retry-after": "in 5" }, null],
    [{ "retry-after": "10;" }, null],
    [{}, null]
  ]
  for (const [headers, millis] of table) {
    it(JSON.stringify(headers), () => {
      expect(Failures.retryAfterMillis(headers, nowMillis)).toBe(millis)
      expect(classify(429, {}, headers)).toEqual({ _tag: "RateLimited", retryAfterMillis: millis })
    })
  }
})

describe("what a broken connection means", () => {
  const error = (code: string): Error => Object.assign(new Error(code), { code })
  const table: ReadonlyArray<readonly [string, ProviderFailure]> = [
    ["ECONNREFUSED", { _tag: "Unreachable", detail: "refused" }],
    ["EHOSTUNREACH", { _tag: "Unreachable", detail: "refused" }],
    ["ENOTFOUND", { _tag: "Unreachable", detail: "dns" }],
    ["EAI_AGAIN", { _tag: "Unreachable", detail: "dns" }],
    ["UND_ERR_CONNECT_TIMEOUT", { _tag: "ConnectTimeout" }],
    ["ETIMEDOUT", { _tag: "ConnectTimeout" }],
    ["CERT_HAS_EXPIRED", { _tag: "Insecure", detail: "CERT_HAS_EXPIRED" }],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", { _tag: "Insecure", detail: "DEPTH_ZERO_SELF_SIGNED_CERT" }],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", { _tag: "Insecure", detail: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }],
    ["ERR_TLS_CERT_ALTNAME_INVALID", { _tag: "Insecure", detail: "ERR_TLS_CERT_ALTNAME_INVALID" }],
    ["EPROTO", { _tag: "Insecure", detail: "EPROTO" }],
    ["ECONNRESET", { _tag: "Reset" }],
    ["UND_ERR_SOCKET", { _tag: "Reset" }]
  ]
  for (const [code, failure] of table) {
    it(code, () => {
      expect(fromSocketError(error(code), "sending", false)).toEqual(failure)
      expect(fromSocketError(error(code), "answering", true)).toEqual({ _tag: "Disconnected" })
    })
  }

  const connecting = (code: string, address = "192.0.2.1", syscall = "connect"): Error =>
    Object.assign(error(code), { address, syscall })
  const shortages = [
    ["EMFILE", "open-files"],
    ["ENFILE", "open-files"],
    ["EADDRNOTAVAIL", "local-ports"],
    ["ENOBUFS", "memory"],
    ["ENOMEM", "memory"]
  ] as const

  it.each(shortages)("%s while connecting is a shortage of this machine: %s", (code, detail) => {
    const noSocket = { _tag: "NoSocket", detail }
    expect(fromSocketError(connecting(code), "sending", false)).toEqual(noSocket)
    // on the way to a proxy too, and where the provider's other address was tried before
    expect(
      fromSocketError(new ProxyError("proxy-unreachable", { cause: connecting(code) }), "sending", undefined)
    ).toEqual(noSocket)
    const both = new AggregateError([connecting("ENETUNREACH", "2001:db8::1"), connecting(code)])
    expect(fromSocketError(both, "sending", undefined)).toEqual(noSocket)
  })

  it.each(["ENOBUFS", "ENOMEM"])(
    "%s on a connection that there was may have come after the request was read",
    (code) => {
      expect(fromSocketError(connecting(code, "", "write"), "sending", false)).toEqual({ _tag: "Reset" })
      expect(fromSocketError(connecting(code, "", "read"), "answering", true)).toEqual({ _tag: "Disconnected" })
    }
  )

  it.each(["ENOTFOUND", "EAI_AGAIN", "EBUSY", "EINVAL"])(
    "%s of a name lookup is an unknown host, unless this process can open no file for the lookup",
    (code) => {
      const lookup = Object.assign(error(code), { syscall: "getaddrinfo" })
      expect(fromSocketError(lookup, "sending", undefined, () => true)).toEqual({ _tag: "Unreachable", detail: "dns" })
      expect(fromSocketError(lookup, "sending", undefined, () => false)).toEqual({
        _tag: "NoSocket",
        detail: "open-files"
      })
    }
  )

  it("a machine without IPv6 says of an IPv6 address that it is not available: the provider cannot be reached", () => {
    const refused = { _tag: "Unreachable", detail: "refused" }
    expect(fromSocketError(connecting("EADDRNOTAVAIL", "2001:db8::1"), "sending", undefined)).toEqual(refused)
    const both = new AggregateError([connecting("EADDRNOTAVAIL", "2001:db8::1"), connecting("ECONNREFUSED")])
    expect(fromSocketError(both, "sending", undefined)).toEqual(refused)
  })

  it("several addresses that all refuse are one refusal", () => {
    const all = new AggregateError([error("ECONNREFUSED"), error("ECONNREFUSED")])
    expect(fromSocketError(all, "sending", false)).toEqual({ _tag: "Unreachable", detail: "refused" })
  })
})
