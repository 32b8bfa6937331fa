import { createHash } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { InvalidRequest, RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { KeyId, RequestId } from "../domain/Ids.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"
import { seal, unseal } from "./Seal.ts"

export interface IdempotentRequest {
  readonly keyId: KeyId
  /** The API key itself: the response is encrypted with it. */
  readonly apiKey: string
  readonly idempotencyKey: string
  readonly requestId: RequestId
  /** Path and body: an Idempotency-Key must always be used for the same request. */
  readonly path: string
  readonly body: Uint8Array
}

export interface KeptAnswer {
  readonly contentType: string
  readonly body: Uint8Array
}

/** Run the request and report its response to `finish`, or replay the kept response. */
export type Begun =
  | { readonly _tag: "Replay"; readonly answer: KeptAnswer }
  /** Only a complete response is kept; `undefined` releases the Idempotency-Key, and the request can be sent again. */
  | { readonly _tag: "Run"; readonly finish: (answer: KeptAnswer | undefined) => Effect.Effect<void> }

export interface IdempotencyShape {
  readonly begin: (request: IdempotentRequest) => Effect.Effect<Begun, InvalidRequest | RateLimited | StoreUnavailable>
}

/** A larger response is not kept: its request, sent again, is run again. */
const maxAnswerBytes = 1024 * 1024
const keptMillis = 24 * 3_600_000
/** Longer than any call may take. */
const abandonedAfterMillis = 15 * 60_000
const retryAfterMillis = 1_000
const sweepEvery = "10 minutes"

/** Requests with an `Idempotency-Key` are run once, however often they are sent. */
export class Idempotency extends Context.Tag("gateway/calls/Idempotency")<Idempotency, IdempotencyShape>() {
  static readonly layer: Layer.Layer<Idempotency, never, IdempotencyStore> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* IdempotencyStore
  const sweep = Effect.catchAll(store.sweep, () => Effect.logDebug("expired idempotent responses could not be deleted"))
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))

  const shape: IdempotencyShape = {
    begin: Effect.fnUntraced(function* (request) {
      const run = { keyId: request.keyId, idempotencyKey: request.idempotencyKey, runId: request.requestId }
      const requestHash = hashOf(request)
      const found = yield* store.claim({ ...run, requestHash, abandonedAfterMillis })
      if (found === undefined) return { _tag: "Run", finish: finisher(request, run) }
      if (!requestHash.equals(found.request_hash)) return yield* reused
      if (found.content_type === null || found.answer === null) return yield* inProgress
      const body = unseal(request.apiKey, purposeOf(request), found.answer)
      if (body === undefined)
        return yield* Effect.dieMessage("a kept response cannot be decrypted with the key that it was encrypted for")
      return { _tag: "Replay", answer: { contentType: found.content_type, body } }
    })
  }

  const finisher =
    (
      request: IdempotentRequest,
      run: { readonly keyId: KeyId; readonly idempotencyKey: string; readonly runId: RequestId }
    ) =>
    (answer: KeptAnswer | undefined): Effect.Effect<void> => {
      const ended =
        answer === undefined || answer.body.length > maxAnswerBytes
          ? store.release(run)
          : store.finish(run, {
              contentType: answer.contentType,
              sealed: seal(request.apiKey, purposeOf(request), answer.body),
              keptMillis
            })
      return Effect.catchAll(ended, () =>
        Effect.logWarning("the response of an idempotent request could not be stored")
      )
    }
  return shape
})

const reused = new InvalidRequest({
  code: "idempotency_key_reused",
  message: "This Idempotency-Key was used for another request.",
  param: null
})

const inProgress = new RateLimited({
  code: "idempotent_request_in_progress",
  message: "The request with this Idempotency-Key is still running.",
  retryAfterMillis
})

const hashOf = ({ body, path }: IdempotentRequest): Buffer =>
  createHash("sha256").update(path).update("\0").update(body).digest()

const purposeOf = ({ idempotencyKey }: IdempotentRequest): string => `idempotent answer ${idempotencyKey}`
