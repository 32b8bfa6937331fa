import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Feedback } from "../../account/feedback/Feedback.ts"
import { decodeFeedback, FeedbackOut } from "../../wire/account/Feedback.ts"
import { keyedPost } from "./KeyedPost.ts"

/** A grade has two fields. */
const maxBodyBytes = 16 * 1024

/** POST /v1/feedback: a grade for the response of a call of the key's project. */
export const feedback = Effect.flatMap(Feedback, (grades) =>
  keyedPost(
    (caller, json) =>
      Effect.gen(function* () {
        const grade = yield* decodeFeedback(json)
        const { isNew, model, promptClass } = yield* grades.give(caller, grade)
        return encode({ request_id: grade.requestId, model, class: promptClass, recorded: isNew })
      }),
    maxBodyBytes
  )
)

const encode = Schema.encodeSync(FeedbackOut)
