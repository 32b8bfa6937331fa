import * as Schema from "effect/Schema"
import { Attempt } from "../domain/Call.ts"
import { SkippedCandidate } from "../domain/RouterMetadata.ts"

/** The error object of a response. */
export const WireError = Schema.Struct({
  message: Schema.String.annotations({ description: "Human-readable error message." }),
  type: Schema.String.annotations({ description: "Error type; one type per status." }),
  param: Schema.NullOr(Schema.String).annotations({
    description: "Path of the invalid request field, such as `messages[2].content[0].type`."
  }),
  code: Schema.String.annotations({ description: "Stable, machine-readable error code." }),
  metadata: Schema.optionalWith(
    Schema.Struct(
      {
        attempts: Schema.optionalWith(Schema.Array(Attempt), { exact: true }).annotations({
          description: "The provider attempts that led to the error."
        }),
        skipped: Schema.optionalWith(Schema.Array(SkippedCandidate), { exact: true }).annotations({
          description: "For a 502: candidates that were passed over without an attempt; absent if there are none."
        }),
        excluded: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt }), {
          exact: true
        }).annotations({
          description: "For a 404 `no_eligible_model`: number of models that are not eligible, by reason."
        }),
        reason: Schema.optionalWith(Schema.Literal("exhausted", "held", "too_large"), { exact: true }).annotations({
          description:
            "For a 402. exhausted: nothing is left. held: running calls hold what is left. too_large: the call could cost more than is left."
        }),
        scope: Schema.optionalWith(Schema.Literal("account", "project", "key"), { exact: true }).annotations({
          description:
            "For a 402: whether the account's balance, or the spend limit of the project or key, refused the call."
        }),
        needed_microusd: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description: "For a 402: minimum amount to be held for the call, in micro-USD."
        }),
        available_microusd: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description: "For a 402: remaining amount of the scope after spent and held, in micro-USD."
        }),
        held_microusd: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description: "For a 402: amount of the scope held by running calls, in micro-USD."
        }),
        fitting_output_tokens: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description:
            "For a 402 `too_large`: the largest output cap with which the call would have been admitted, in tokens."
        })
      },
      { key: Schema.String, value: Schema.Unknown }
    ),
    { exact: true }
  ).annotations({ description: "Details of some errors." })
}).annotations({ identifier: "Error", description: "The error." })
export type WireError = typeof WireError.Type

export const ErrorResponse = Schema.Struct({
  error: WireError
}).annotations({ identifier: "ErrorResponse" })

/** The body of every error on `/v1`; all four keys are always present. */
export const errorBody = ({ code, message, metadata, param, type }: WireError): string =>
  JSON.stringify({ error: { message, type, param, code, ...(metadata === undefined ? {} : { metadata }) } })

export const AnthropicErrorResponse = Schema.Struct({
  type: Schema.Literal("error").annotations({ description: "Always error." }),
  error: Schema.Struct({
    type: Schema.Literal(
      "invalid_request_error",
      "authentication_error",
      "billing_error",
      "not_found_error",
      "rate_limit_error",
      "overloaded_error",
      "api_error"
    ).annotations({ description: "Error type, one of Anthropic's." }),
    message: Schema.String.annotations({ description: "Human-readable error message." }),
    code: WireError.fields.code,
    param: WireError.fields.param,
    metadata: WireError.fields.metadata,
    details: Schema.optionalWith(
      Schema.Struct({
        error_code: Schema.Literal("thread_unsupported_request").annotations({
          description: "Anthropic's name for the error."
        }),
        unsupported: Schema.Array(Schema.String).annotations({ description: "Features that are not supported." })
      }),
      { exact: true }
    ).annotations({ description: "Details that Anthropic's clients act on; absent otherwise." })
  }).annotations({ description: "The error." }),
  request_id: Schema.String.annotations({ description: "The gateway's id of the request." })
}).annotations({ identifier: "AnthropicErrorResponse" })

/** An error in Anthropic's form, with the gateway's code and path as additional fields. */
export const anthropicError = (
  { code, message, metadata, param, type }: WireError,
  requestId: string
): typeof AnthropicErrorResponse.Type => ({
  type: "error",
  error: {
    type: anthropicType(type, code),
    message,
    code,
    param,
    ...(metadata === undefined ? {} : { metadata }),
    ...(param === threadParam && code === "unsupported_parameter" && { details: threadUnsupported })
  },
  request_id: requestId
})

/** A field of Messages by which a client asks to keep the conversation on the server. */
export const threadParam = "thread"

/** By this Anthropic's client knows that it has to send the whole conversation each time. */
const threadUnsupported = { error_code: "thread_unsupported_request", unsupported: [threadParam] } as const

/** The body of an error for clients of Anthropic's formats. */
export const anthropicErrorBody = (error: WireError, requestId: string): string =>
  JSON.stringify(anthropicError(error, requestId))

type AnthropicType = (typeof AnthropicErrorResponse.Type)["error"]["type"]

const anthropicType = (type: string, code: string): AnthropicType => byCode.get(code) ?? byType.get(type) ?? "api_error"

/** Where Anthropic has more types than the gateway. */
const byCode: ReadonlyMap<string, AnthropicType> = new Map([
  ["model_not_found", "not_found_error"],
  ["no_eligible_model", "not_found_error"],
  ["routing_config_not_found", "not_found_error"],
  ["unknown_path", "not_found_error"],
  ["overloaded", "overloaded_error"],
  ["shutting_down", "overloaded_error"]
])

const byType: ReadonlyMap<string, AnthropicType> = new Map([
  ["invalid_request_error", "invalid_request_error"],
  ["authentication_error", "authentication_error"],
  ["insufficient_quota", "billing_error"],
  ["rate_limit_error", "rate_limit_error"]
])
