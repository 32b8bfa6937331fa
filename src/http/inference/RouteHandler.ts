import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import { Timers } from "../../domain/Timers.ts"
import { CallRunner } from "../../gateway/CallRunner.ts"
import { RouteOut } from "../../wire/account/Route.ts"
import { decode } from "../../wire/chat/ChatRequest.ts"
import * as Errors from "../Errors.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import { previewOf } from "../RoutePreview.ts"
import * as Body from "../server/Body.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { errorResponse, notPost } from "../server/RouterResponse.ts"
import { Security } from "./Security.ts"

/** POST /v1/route: what a request for a chat completion would be routed to now. Nothing is sent, held or charged. */
export const route = Effect.gen(function* () {
  const calls = yield* CallRunner
  const loadShedding = yield* LoadShedding
  const security = yield* Security
  const timers = yield* Timers
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    const caller = yield* security.authenticate(incoming)
    if (request.method !== "POST") return yield* notPost(request.method)
    if (loadShedding.rejects(caller.accountId)) return yield* new ServiceRefused({ reason: "overloaded" })
    const { json } = yield* Body.read(incoming)
    const preview = yield* previewOf(calls, timers.now(), caller, yield* decode(json))
    return HttpServerResponse.raw(JSON.stringify(encode(preview)), {
      headers: { ...jsonHeaders, "cache-control": "no-store" }
    })
  }).pipe(Effect.catchAll((error) => Effect.succeed(errorResponse(Errors.of(error)))))
})

const encode = Schema.encodeSync(RouteOut)
