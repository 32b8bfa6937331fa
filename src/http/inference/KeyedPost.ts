import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type { AccountError } from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { type GatewayError, ServiceRefused } from "../../domain/GatewayError.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import * as Body from "../server/Body.ts"
import { bodyOfCaller } from "../server/LateBody.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { answered, notPost } from "../server/RouterResponse.ts"
import { Security } from "./Security.ts"

/** POST by a project key, outside of calls: `answer` makes of the caller and the JSON of the body what is written as JSON. */
export const keyedPost = (
  answer: (caller: CallerShape, json: unknown) => Effect.Effect<unknown, GatewayError | AccountError>,
  maxBytes?: number
) =>
  Effect.gen(function* () {
    const loadShedding = yield* LoadShedding
    const security = yield* Security
    return answered(
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const incoming = NodeHttpServerRequest.toIncomingMessage(request)
        const authenticate = security.authenticate(incoming)
        const present = yield* authenticate
        if (request.method !== "POST") return yield* notPost(request.method)
        if (loadShedding.rejects(present.accountId)) return yield* new ServiceRefused({ reason: "overloaded" })
        const { body, caller } = yield* bodyOfCaller(present, Body.read(incoming, maxBytes), authenticate)
        const text = JSON.stringify(yield* answer(caller, body.json))
        return HttpServerResponse.raw(text, { headers: jsonHeaders })
      })
    )
  })
