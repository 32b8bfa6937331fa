import { createHash } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { seal, unseal } from "../../calls/Seal.ts"
import { IdempotencyKeyInProgress } from "../../domain/AccountError.ts"
import type { CurrentUserShape } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { periodically } from "../../domain/Periodic.ts"
import { Timers } from "../../domain/Timers.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { AccountRequestStore } from "./AccountRequestStore.ts"

export interface AccountRequest<A, I, E, R> {
  readonly user: CurrentUserShape
  readonly idempotencyKey: string
  /** Path and body: an Idempotency-Key must always be used for the same request. */
  readonly request: { readonly path: string; readonly body: unknown }
  /** Of the response. */
  readonly schema: Schema.Schema<A, I>
  /** What a replay needs, as the request did: roles may have been lost since. */
  readonly mayReplay: Effect.Effect<unknown, E, R>
}

export interface Answered<A> {
  readonly answer: A
  /** The request was not run: this was its first answer. */
  readonly isReplayed: boolean
}

export interface AccountIdempotencyShape {
  /** Runs a request once, in one transaction with the note of its answer. A request that fails can be sent again. */
  readonly run: <A, I, E, R, E2, R2>(
    request: AccountRequest<A, I, E2, R2>,
    run: Effect.Effect<A, E, R>
  ) => Effect.Effect<Answered<A>, E | E2 | InvalidRequest | IdempotencyKeyInProgress | StoreUnavailable, R | R2>
}

/** Requests with an `Idempotency-Key` that create something: sent again, they are answered as at first for 24 hours. */
export class AccountIdempotency extends Context.Tag("gateway/account/AccountIdempotency")<
  AccountIdempotency,
  AccountIdempotencyShape
>() {
  static readonly layer: Layer.Layer<AccountIdempotency, never, AccountRequestStore | AccountTransactions | Timers> =
    Layer.scoped(
      this,
      Effect.suspend(() => make)
    )
}

const keptMillis = 24 * 3_600_000
const sweepEvery = "1 hour"

const make = Effect.gen(function* () {
  const store = yield* AccountRequestStore
  const transactions = yield* AccountTransactions
  const timers = yield* Timers
  const since = () => dateAt(timers.now() - keptMillis)
  const sweep = Effect.suspend(() => store.sweep(since()))
  yield* periodically(sweepEvery, "old answers of the account API could not be deleted", sweep)

  const once = <A, I, E, R, E2, R2>(
    { idempotencyKey, mayReplay, request, schema, user }: AccountRequest<A, I, E2, R2>,
    run: Effect.Effect<A, E, R>
  ) =>
    Effect.gen(function* () {
      const key = { userId: user.userId, keyHash: sha256(idempotencyKey) }
      const requestHash = sha256(`${request.path}\0${JSON.stringify(request.body)}`)
      if (!(yield* store.lock(key))) return yield* inProgress
      const kept = yield* store.find(key, since())
      // the response may hold a new API key: without the Idempotency-Key nobody can read what is kept of it
      const purpose = `account answer ${user.userId}`
      const Text = Schema.parseJson(schema)
      if (kept === undefined) {
        const answer = yield* run
        const text = yield* Effect.orDie(Schema.encode(Text)(answer))
        const sealed = seal(idempotencyKey, purpose, Buffer.from(text))
        yield* store.keep(key, { requestHash, answer: sealed }, dateAt(timers.now()))
        return { answer, isReplayed: false }
      }
      if (!requestHash.equals(kept.requestHash)) return yield* reused
      yield* mayReplay
      const text = unseal(idempotencyKey, purpose, kept.answer)
      if (text === undefined)
        return yield* Effect.dieMessage("a kept answer cannot be decrypted with its Idempotency-Key")
      return { answer: yield* Effect.orDie(Schema.decode(Text)(text.toString("utf8"))), isReplayed: true }
    })

  return AccountIdempotency.of({
    run: (request, run) => transactions.commit(() => once(request, run))
  })
})

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

const inProgress = new IdempotencyKeyInProgress({
  message: "The request with this Idempotency-Key is still running."
})

const reused = new InvalidRequest({
  code: "idempotency_key_reused",
  message: "This Idempotency-Key was used for another request.",
  param: null
})
