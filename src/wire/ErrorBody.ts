import * as Schema from "effect/Schema"
import { Attempt } from "../domain/Call.ts"

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
          description: "The attempts at providers that led to the error."
        }),
        reason: Schema.optionalWith(Schema.Literal("exhausted", "held", "too_large"), { exact: true }).annotations({
          description:
            "Of a 402. exhausted: nothing is left. held: running calls hold what is left. too_large: the call may cost more than is left."
        }),
        scope: Schema.optionalWith(Schema.Literal("account", "project", "key"), { exact: true }).annotations({
          description:
            "Of a 402: the account's balance, or the spend limit of the project or key, that refused the call."
        }),
        needed_microusd: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description: "Of a 402, in micro-USD: what has to be held for the call at least."
        }),
        available_microusd: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description: "Of a 402, in micro-USD: what is left of the scope beside `held_microusd`."
        }),
        held_microusd: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }).annotations({
          description: "Of a 402, in micro-USD: what running calls hold of the scope."
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
    type: Schema.String.annotations({ description: "Error type." }),
    message: Schema.String.annotations({ description: "Human-readable error message." })
  }).annotations({ description: "The error." }),
  request_id: Schema.String.annotations({ description: "The gateway's id of the request." })
}).annotations({ identifier: "AnthropicErrorResponse" })

/** The error body for clients that request the Anthropic shape of the model list. */
export const anthropicErrorBody = (error: WireError, requestId: string): string => {
  const body: typeof AnthropicErrorResponse.Type = {
    type: "error",
    error: { type: anthropicTypes.has(error.type) ? error.type : "api_error", message: error.message },
    request_id: requestId
  }
  return JSON.stringify(body)
}
const anthropicTypes = new Set(["invalid_request_error", "authentication_error", "rate_limit_error"])
