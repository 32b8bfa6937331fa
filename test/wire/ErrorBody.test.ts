import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { noCost } from "../../src/domain/Call.ts"
import {
  AnthropicErrorResponse,
  anthropicError,
  anthropicErrorBody,
  ErrorResponse,
  errorBody
} from "../../src/wire/ErrorBody.ts"
import { head } from "./chat/AnswerArbitraries.ts"

const error = { message: "No.", type: "authentication_error", param: null, code: "invalid_api_key" }

describe("an error body", () => {
  it("always has its four keys, and metadata only where there is any", () => {
    expect(errorBody(error)).toBe(
      '{"error":{"message":"No.","type":"authentication_error","param":null,"code":"invalid_api_key"}}'
    )
    const attempt = {
      provider: "acme",
      model: "acme/large",
      status: "timeout",
      error: { code: "provider_timeout", message: null },
      cost: noCost,
      latency_ms: 1.5
    } as const
    const body: unknown = JSON.parse(errorBody({ ...error, metadata: { attempts: [attempt], reason: "held" } }))
    expect(Schema.decodeUnknownSync(ErrorResponse)(body).error.metadata).toEqual({
      attempts: [attempt],
      reason: "held"
    })
  })

  it("has Anthropic's families in Anthropic's shape", () => {
    const body: unknown = JSON.parse(anthropicErrorBody(error, head.requestId))
    expect(Schema.decodeUnknownSync(AnthropicErrorResponse)(body)).toEqual({
      type: "error",
      error: { type: "authentication_error", message: "No.", code: "invalid_api_key", param: null },
      request_id: head.requestId
    })
    expect(anthropicErrorBody({ ...error, type: "server_error" }, head.requestId)).toContain('"type":"api_error"')
    expect(anthropicErrorBody({ ...error, type: "rate_limit_error" }, head.requestId)).toContain('"rate_limit_error"')
  })

  it.each([
    ["invalid_request_error", "model_not_found", "not_found_error"],
    ["invalid_request_error", "no_eligible_model", "not_found_error"],
    ["invalid_request_error", "routing_config_not_found", "not_found_error"],
    ["invalid_request_error", "unknown_path", "not_found_error"],
    ["invalid_request_error", "invalid_value", "invalid_request_error"],
    ["insufficient_quota", "insufficient_balance", "billing_error"],
    ["rate_limit_error", "rate_limit_exceeded", "rate_limit_error"],
    ["server_error", "overloaded", "overloaded_error"],
    ["server_error", "shutting_down", "overloaded_error"],
    ["server_error", "internal_error", "api_error"],
    ["provider_error", "all_providers_failed", "api_error"]
  ])("of type %s and code %s has Anthropic's type %s", (type, code, expected) => {
    const body = anthropicError({ ...error, type, code }, head.requestId)
    expect([body.error.type, body.error.code]).toEqual([expected, code])
  })
})
