import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import { promptClasses } from "../../domain/PromptClass.ts"
import { requestIdOf } from "../RequestIdHex.ts"
import { explainer } from "../validation/Explanation.ts"
import { requestIdForms } from "./SentId.ts"

/** The records of `POST /v1/feedback`. */

const maxIdCharacters = 64

export const FeedbackRequest = Schema.Struct({
  request_id: Schema.String.pipe(Schema.maxLength(maxIdCharacters)).annotations({
    description:
      "The graded call: `x-request-id` of its response, or the `id` of the body (`chatcmpl-…`, `resp_…`, `msg_…`)."
  }),
  score: Schema.Number.pipe(Schema.between(0, 1, { title: "a number from 0 to 1" })).annotations({
    description: "How good the response was for its task: 0 is useless, 1 is ideal."
  })
}).annotations({ identifier: "FeedbackRequest", description: "A grade for the response of a call." })
export type FeedbackRequest = typeof FeedbackRequest.Type

export const FeedbackOut = Schema.Struct({
  request_id: Schema.UUID.annotations({ description: "Id of the call." }),
  model: Schema.String.annotations({ description: "Id of the graded model." }),
  class: Schema.Literal(...promptClasses).annotations({ description: "What the prompt most likely asked for." }),
  recorded: Schema.Boolean.annotations({
    description: "false if the call had already been graded: its first grade counts."
  })
}).annotations({ identifier: "FeedbackOut", description: "The model and class of prompts that a grade counts for." })

const parse = Schema.decodeUnknownEither(FeedbackRequest)
const explain = explainer(FeedbackRequest)

/** Reads the parsed body of `POST /v1/feedback`; the request id is the uuid, however it was written. */
export const decodeFeedback = (
  json: unknown
): Either.Either<{ readonly requestId: string; readonly score: number }, InvalidRequest> =>
  Either.match(parse(json), {
    onLeft: () => Either.left(new InvalidRequest(explain(json, []) ?? unreadable)),
    onRight: ({ request_id, score }) => {
      const requestId = requestIdOf(request_id)
      return requestId === undefined ? Either.left(new InvalidRequest(noId)) : Either.right({ requestId, score })
    }
  })

const noId = {
  code: "invalid_value",
  message: `Invalid value for 'request_id': expected ${requestIdForms}.`,
  param: "request_id"
} as const

const unreadable = { code: "invalid_value", message: "The request could not be read.", param: null } as const
