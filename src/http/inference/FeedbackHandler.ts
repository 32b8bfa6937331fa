import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Feedback } from "../../account/feedback/Feedback.ts"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import { decodeFeedback, FeedbackOut } from "../../wire/account/Feedback.ts"
import * as Errors from "../Errors.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import * as Body from "../server/Body.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { errorResponse, notPost } from "../server/RouterResponse.ts"
import { Security } from "./Security.ts"

/** A grade has two fields. */
const maxBodyBytes = 16 * 1024

/** POST /v1/feedback: a grade for the response of a call of the key's project. */
export const feedback = Effect.gen(function* () {
  const grades = yield* Feedback
  const loadShedding = yield* LoadShedding
  const security = yield* Security
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    const caller = yield* security.authenticate(incoming)
    if (request.method !== "POST") return yield* notPost(request.method)
    if (loadShedding.rejects(caller.accountId)) return yield* new ServiceRefused({ reason: "overloaded" })
    const { json } = yield* Body.read(incoming, maxBodyBytes)
    const grade = yield* decodeFeedback(json)
    const { isNew, model, promptClass } = yield* grades.give(caller, grade)
    const answer = encode({ request_id: grade.requestId, model, class: promptClass, recorded: isNew })
    return HttpServerResponse.raw(JSON.stringify(answer), { headers: { ...jsonHeaders, "cache-control": "no-store" } })
  }).pipe(Effect.catchAll((error) => Effect.succeed(errorResponse(Errors.of(error)))))
})

const encode = Schema.encodeSync(FeedbackOut)
