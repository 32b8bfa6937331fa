import { createHash } from "node:crypto"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { Images } from "../../../chat/Images.ts"
import { ChatImageOut } from "../../../wire/account/Chat.ts"
import { bodyOfCaller } from "../../server/LateBody.ts"
import { idempotent } from "../Idempotent.ts"
import { identifiedAgain } from "../Identity.ts"
import * as ImageBody from "./ImageBody.ts"

/** Keeps the image that is the body of a request. */
export const uploadedImages = Effect.gen(function* () {
  const images = yield* Images
  const idempotency = yield* AccountIdempotency
  return (request: HttpServerRequest.HttpServerRequest, idempotencyKey: string | undefined, filename: string) =>
    Effect.gen(function* () {
      const incoming = NodeHttpServerRequest.toIncomingMessage(request)
      const { body: bytes } = yield* bodyOfCaller(undefined, ImageBody.read(incoming), identifiedAgain(incoming))
      const hash = createHash("sha256").update(bytes).digest("hex")
      const kept = {
        body: { filename, hash },
        schema: ChatImageOut,
        mayReplay: Effect.void
      }
      const made = yield* idempotent(idempotency, idempotencyKey, kept, images.create(filename, bytes))
      // also of a replay: the first request may have failed here. Without an Idempotency-Key nobody could find the row again
      const stored = images.put(made.id, bytes)
      yield* idempotencyKey === undefined ? Effect.onError(stored, () => Effect.ignore(images.remove(made.id))) : stored
      return HttpServerResponse.unsafeJson(made, { status: 201 })
    })
})
