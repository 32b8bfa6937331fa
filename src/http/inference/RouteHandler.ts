import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Timers } from "../../domain/Timers.ts"
import { CallRunner } from "../../gateway/CallRunner.ts"
import { RouteOut } from "../../wire/account/Route.ts"
import { previewOf } from "../RoutePreview.ts"
import { keyedPost } from "./KeyedPost.ts"

/** POST /v1/route: what a request for a chat completion would be routed to now. Nothing is sent, held or charged. */
export const route = Effect.flatMap(Effect.all([CallRunner, Timers]), ([calls, timers]) =>
  keyedPost((caller, json) => Effect.map(previewOf(calls, timers.now(), caller, json), (preview) => encode(preview)))
)

const encode = Schema.encodeSync(RouteOut)
