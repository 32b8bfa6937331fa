import { createHash } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { CallerShape } from "../domain/Caller.ts"
import { InvalidRequest, RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { periodically } from "../domain/Periodic.ts"
import type { SealedAnswer } from "../ledger/Hold.ts"
import { IdempotencyStore, type IdempotentRun } from "./IdempotencyStore.ts"
import { seal, unseal } from "./Seal.ts"

/** A request that was sent with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The same Idempotency-Key under another API key is another one. */
  readonly caller: CallerShape
  /** The header of the request. */
  readonly idempotencyKey: string
  /** Of this run: the claim and the settlement have it. */
  readonly requestId: RequestId
  /** Path and body: an Idempotency-Key must always be used for the same request. */
  readonly path: string
  /** Its bytes. */
  readonly body: Uint8Array
}

/** A response that is kept, to be sent again. */
export interface KeptAnswer {
  /** Of HTTP. */
  readonly status: number
  /** The header. */
  readonly contentType: string
  /** Besides the content type. */
  readonly headers: Readonly<Record<string, string>>
  /** Its bytes, of a stream all of them. */
  readonly body: Uint8Array
}

/** Run the request, or replay the kept response. */
export type Begun = { readonly _tag: "Replay"; readonly answer: KeptAnswer } | IdempotentCall

/** The call of a request that is run; one of its two functions is to be used once, at its end. */
export interface IdempotentCall {
  readonly _tag: "Run"
  /** The response in the form in which the call's settlement keeps it; `undefined` where it is too large. */
  readonly seal: (answer: KeptAnswer) => SealedAnswer | undefined
  /** Without a response to keep the request can be sent, and is run, again. */
  readonly release: Effect.Effect<void>
  /** After the end of the call, in whatever way. */
  readonly ended: () => void
}

/** Claims keys, and finds what is kept for them. */
export interface IdempotencyShape {
  /** Fails while another run has the key, or when the key was used for another request. */
  readonly begin: (request: IdempotentRequest) => Effect.Effect<Begun, InvalidRequest | RateLimited | StoreUnavailable>
}

/** A larger response is not kept: its request, sent again, is run again. */
export const maxAnswerBytes = 1024 * 1024
const keptMillis = 24 * 3_600_000
const retryAfterMillis = 1_000
const sweepEvery = "10 minutes"
const releaseLostEvery = "10 seconds"

/**
 * Requests with an `Idempotency-Key` are run once, however often they are sent: a run claims the key, and the settlement of its
 * call keeps its response.
 */
export class Idempotency extends Context.Tag("gateway/calls/Idempotency")<Idempotency, IdempotencyShape>() {
  /** @internal Encrypts responses with their requests, of which the database has hashes only. */
  static readonly layer: Layer.Layer<Idempotency, never, IdempotencyStore> = Layer.scoped(
    this,
    Effect.suspend(() => make(""))
  )

  /** @internal With a secret of the application beside them. */
  static readonly layerWith = ({ secret }: IdempotencyOptions): Layer.Layer<Idempotency, never, IdempotencyStore> =>
    Layer.scoped(
      this,
      Effect.suspend(() => make(Redacted.value(secret)))
    )

  /** Refuses every request that has an Idempotency-Key: one that runs twice would be charged twice. */
  static readonly layerOff: Layer.Layer<Idempotency> = Layer.sync(this, () => refusing)
}

/** How applications keep responses for repetitions of their requests. */
export interface IdempotencyOptions {
  /** Encrypts the kept responses: the same text on all nodes, and after a restart; not empty. */
  readonly secret: Redacted.Redacted
}

/** What is wrong with the options. A variable that is not set may be `undefined` in spite of its type. */
export const issuesOfIdempotencyOptions = ({ secret }: IdempotencyOptions): ReadonlyArray<ConfigIssue> => {
  const text: unknown = Redacted.value(secret)
  return typeof text === "string" && text !== ""
    ? []
    : [{ path: "secret", message: "must be a text that is not empty" }]
}

/** Without a store nothing can be kept. */
export const refusing: IdempotencyShape = { begin: () => Effect.fail(unsupported) }

const make = Effect.fnUntraced(function* (secret: string) {
  const store = yield* IdempotencyStore
  /** From before the claim is sent: what the database has beyond these, nobody runs. */
  const running = new Set<RequestId>()
  yield* periodically(sweepEvery, "expired idempotent responses could not be deleted", store.sweep)
  const releaseLost = Effect.suspend(() => store.releaseLost([...running]))
  yield* periodically(releaseLostEvery, "lost claims on idempotency keys could not be released", releaseLost)

  const callOf = (request: IdempotentRequest, digest: Buffer, run: IdempotentRun): IdempotentCall => ({
    _tag: "Run",
    seal: ({ body, contentType, headers, status }) =>
      body.length > maxAnswerBytes
        ? undefined
        : {
            keyId: run.keyId,
            idempotencyKey: run.idempotencyKey,
            status,
            contentType,
            headers,
            sealed: seal(secretOf(secret, request, digest), purposeOf(request), body),
            keptMillis
          },
    // what cannot be released now is found lost later
    release: Effect.catchAll(store.release(run), () => Effect.logDebug("an idempotency key could not be released")),
    ended: () => running.delete(run.runId)
  })

  const shape: IdempotencyShape = {
    begin: Effect.fnUntraced(function* (request) {
      const { caller, idempotencyKey, requestId } = request
      const run = {
        keyId: caller.keyId,
        idempotencyKey: sha256(idempotencyKey).toString("base64url"),
        runId: requestId
      }
      const digest = digestOf(request)
      const requestHash = sha256(digest)
      running.add(requestId)
      const claim = store.claim({ ...run, requestHash, accountId: caller.accountId, projectId: caller.projectId })
      const found = yield* Effect.tapErrorCause(claim, () => Effect.sync(() => running.delete(requestId)))
      if (found === undefined) return callOf(request, digest, run)
      running.delete(requestId)
      if (!requestHash.equals(found.requestHash)) return yield* reused
      if (found.state === "running") return yield* inProgress
      const body = unseal(secretOf(secret, request, digest), purposeOf(request), found.sealed)
      if (body === undefined)
        return yield* Effect.dieMessage(
          "a kept response cannot be decrypted with the secret that it was encrypted with"
        )
      const { contentType, headers, status } = found
      return { _tag: "Replay", answer: { status, contentType, headers, body } }
    })
  }
  return shape
})

/** Seals the response that the settlement of the call is to keep; `undefined` where it is too large. */
export type Keep = (answer: KeptAnswer) => SealedAnswer | undefined

/**
 * Replays the kept response, or runs the request: `run` gets a function that seals the response for the settlement of the
 * call, which is replayed when the request is sent again. What has sealed nothing can be run again.
 */
export const once = <A, E, R>(
  idempotency: IdempotencyShape,
  request: IdempotentRequest,
  on: {
    readonly replay: (answer: KeptAnswer) => Effect.Effect<A, E, R>
    readonly run: (keep: Keep) => Effect.Effect<A, E, R>
  }
): Effect.Effect<A, E | InvalidRequest | RateLimited | StoreUnavailable, R> =>
  Effect.acquireUseRelease(
    Effect.map(idempotency.begin(request), (begun): { readonly begun: Begun; isKept: boolean } => ({
      begun,
      isKept: false
    })),
    (state) => {
      const { begun } = state
      if (begun._tag === "Replay") return on.replay(begun.answer)
      return on.run((answer) => {
        const sealed = begun.seal(answer)
        state.isKept = sealed !== undefined
        return sealed
      })
    },
    ({ begun, isKept }) =>
      begun._tag === "Replay"
        ? Effect.void
        : Effect.ensuring(isKept ? Effect.void : begun.release, Effect.sync(begun.ended))
  )

const unsupported = new InvalidRequest({
  code: "unsupported_parameter",
  message: "Idempotency-Key is not supported here.",
  param: null
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

const digestOf = ({ body, path }: IdempotentRequest): Buffer =>
  createHash("sha256").update(path).update("\0").update(body).digest()

/** What is stored of the request and of its Idempotency-Key. */
const sha256 = (content: string | Buffer): Buffer => createHash("sha256").update(content).digest()

/**
 * What whoever sends the request again has, whichever secret of the API key, session or token of the person they send: keys are
 * rotated while the response is kept.
 */
const secretOf = (secret: string, { caller, idempotencyKey }: IdempotentRequest, digest: Buffer): string =>
  [secret, caller.keyId, idempotencyKey, digest.toString("base64")].join("\0")

const purposeOf = ({ idempotencyKey }: IdempotentRequest): string => `idempotent answer ${idempotencyKey}`
