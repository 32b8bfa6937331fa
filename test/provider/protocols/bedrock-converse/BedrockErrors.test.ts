import { describe, expect, it } from "vitest"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import { bedrockConverse } from "../../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import type { ResponseHeaders } from "../../../../src/provider/protocols/shared/Protocol.ts"

const failure = (status: number, name: string | undefined, message: string, headers: ResponseHeaders = {}) =>
  bedrockConverse.failure({
    status,
    headers: { ...headers, ...(name !== undefined && { "x-amzn-errortype": name }) },
    body: JSON.stringify({ message }),
    nowMillis: 0
  })

const table: ReadonlyArray<readonly [status: number, name: string, message: string, reason: ProviderFailure["_tag"]]> =
  [
    [429, "ThrottlingException", "Too many requests, please wait before trying again.", "RateLimited"],
    [429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", "RateLimited"],
    [429, "ModelNotReadyException", "Model is not ready.", "Overloaded"],
    [503, "ServiceUnavailableException", "Unable to process.", "Overloaded"],
    [400, "ServiceQuotaExceededException", "Your request exceeds the service quota.", "QuotaExhausted"],
    [408, "ModelTimeoutException", "Model took too long.", "AnswerTimeout"],
    [424, "ModelErrorException", "The model failed.", "ServerError"],
    [500, "InternalServerException", "Unexpected.", "ServerError"],
    [404, "ResourceNotFoundException", "This model version has reached the end of its life.", "ModelGone"],
    [400, "ValidationException", "The provided model identifier is invalid.", "ModelGone"],
    [400, "ValidationException", "Invocation of model ID x with on-demand throughput isn’t supported.", "ModelGone"],
    [403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", "ModelGone"],
    [
      403,
      "AccessDeniedException",
      "User: arn:aws:iam::1:user/x is not authorized to perform this.",
      "CredentialRejected"
    ],
    [
      403,
      "AccessDeniedException",
      "You invoked an unsupported model or your request did not allow prompt caching.",
      "RequestRejected"
    ],
    [403, "ExpiredTokenException", "The security token included in the request is expired", "CredentialRejected"],
    [
      403,
      "UnrecognizedClientException",
      "The security token included in the request is invalid.",
      "CredentialRejected"
    ],
    [403, "InvalidSignatureException", "Signature expired", "CredentialRejected"],
    [403, "MissingAuthenticationTokenException", "Missing Authentication Token", "CredentialRejected"],
    [400, "IncompleteSignatureException", "x", "CredentialRejected"],
    [400, "ValidationException", "Input is too long for requested model.", "ContextLengthExceeded"],
    [
      400,
      "ValidationException",
      "input length and `max_tokens` exceed context limit: 199999 + 4096 > 200000",
      "ContextLengthExceeded"
    ],
    [
      400,
      "ValidationException",
      "The model returned the following errors: Output blocked by content filtering policy",
      "ContentPolicy"
    ],
    [400, "ValidationException", "The text field in the ContentBlock object is blank.", "RequestRejected"],
    [302, "", "", "Redirected"],
    [404, "", "", "ModelGone"],
    [401, "", "", "CredentialRejected"],
    [502, "", "", "ServerError"]
  ]

describe("what an error answer means", () => {
  for (const [status, name, message, reason] of table) {
    it(`${status} ${name} ${message.slice(0, 60)}: ${reason}`, () => {
      expect(failure(status, name, message)._tag).toBe(reason)
    })
  }

  it("does not depend on how the exception is spelled, or where it stands", () => {
    for (const name of [
      "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/",
      "com.amazon.coral.service#ThrottlingException",
      "throttlingException"
    ]) {
      expect(failure(400, name, "x")._tag).toBe("RateLimited")
    }
    const body = '{"__type":"com.amazon.coral.service#ExpiredTokenException","Message":"old"}'
    expect(bedrockConverse.failure({ status: 400, headers: {}, body, nowMillis: 0 })._tag).toBe("CredentialRejected")
    expect(bedrockConverse.failure({ status: 500, headers: {}, body: "<html>", nowMillis: 0 })._tag).toBe("ServerError")
  })

  it("carries the wait that was asked for", () => {
    expect(failure(429, "ThrottlingException", "x", { "retry-after": "3" })).toEqual({
      _tag: "RateLimited",
      retryAfterMillis: 3000
    })
  })

  it("is told without accounts and resource names", () => {
    const said = failure(
      400,
      "ValidationException",
      "The profile arn:aws:bedrock:us-east-1:123456789012:inference-profile/acme-prod is malformed."
    )
    expect(said).toEqual({ _tag: "RequestRejected", message: "The profile [redacted] is malformed.", param: null })
  })
})
