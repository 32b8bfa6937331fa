import * as Schema from "effect/Schema"
import { Attempt } from "../domain/Call.ts"

export const WireError = Schema.Struct({
  message: Schema.String.annotations({ description: "What went wrong, for a person." }),
  type: Schema.String.annotations({ description: "The family of the error, one for each status." }),
  param: Schema.NullOr(Schema.String).annotations({
    description: "The request's field at fault, as a path such as `messages[2].content[0].type`."
  }),
  code: Schema.String.annotations({ description: "A stable, machine-readable word for what went wrong." }),
  metadata: Schema.optionalWith(
    Schema.Struct(
      {
        attempts: Schema.optionalWith(Schema.Array(Attempt), { exact: true }).annotations({
          description: "The attempts at providers that led to the error."
        })
      },
      { key: Schema.String, value: Schema.Unknown }
    ),
    { exact: true }
  ).annotations({ description: "More about some errors, such as `reason` of a 402." })
}).annotations({ identifier: "Error", description: "What went wrong." })
export type WireError = typeof WireError.Type

export const ErrorResponse = Schema.Struct({
  error: WireError
}).annotations({ identifier: "ErrorResponse" })

/** The body of every error on `/v1`; all four keys are always there. */
export const errorBody = ({ code, message, metadata, param, type }: WireError): string =>
  JSON.stringify({ error: { message, type, param, code, ...(metadata === undefined ? {} : { metadata }) } })

export const AnthropicErrorResponse = Schema.Struct({
  type: Schema.Literal("error").annotations({ description: "Always error." }),
  error: Schema.Struct({
    type: Schema.String.annotations({ description: "The family of the error." }),
    message: Schema.String.annotations({ description: "What went wrong, for a person." })
  }).annotations({ description: "The error." }),
  request_id: Schema.String.annotations({ description: "The gateway's id of the request." })
}).annotations({ identifier: "AnthropicErrorResponse" })

/** The same for clients that asked for the Anthropic shape of the model list. */
export const anthropicErrorBody = (error: WireError, requestId: string): string => {
  const body: typeof AnthropicErrorResponse.Type = {
    type: "error",
    error: { type: anthropicTypes.has(error.type) ? error.type : "api_error", message: error.message },
    request_id: requestId
  }
  return JSON.stringify(body)
}
const anthropicTypes = new Set(["invalid_request_error", "authentication_error", "rate_limit_error"])
