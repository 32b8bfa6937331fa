import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { MasterKey } from "../../credentials/MasterKey.ts"
import { NotFound, type SealingUnavailable } from "../../domain/AccountError.ts"
import type { CurrentUserShape } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { type RateLimited, type StoreUnavailable, Unauthenticated } from "../../domain/GatewayError.ts"
import { type RequestId, type SessionId, UserId } from "../../domain/Ids.ts"
import { periodically } from "../../domain/Periodic.ts"
import { Timers } from "../../domain/Timers.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { type User, UserStore } from "../users/UserStore.ts"
import { type OpenedSession, Sessions, type SignInRequest } from "./Sessions.ts"
import { hashOf, isCode, mintCode } from "./SessionToken.ts"
import { SignInCodeStore } from "./SignInCodeStore.ts"
import * as SignInProof from "./SignInProof.ts"

export interface SignInCode {
  readonly code: string
  readonly expiresAt: Date
}

export interface SignInShape {
  /** A code for the operator of the first start; `undefined` where there is none. */
  readonly codeAtStart: Effect.Effect<SignInCode | undefined, StoreUnavailable>
  /** A code by which a signed-in person signs in at another browser, while the session that asks for it lasts. */
  readonly codeFor: (user: CurrentUserShape) => Effect.Effect<SignInCode, NotFound | StoreUnavailable>
  /** A code for the operator of the first start, for whoever has the master key; each proof counts once. */
  readonly codeByProof: (
    proof: string,
    request: Omit<SignInRequest, "transport" | "userAgent">
  ) => Effect.Effect<SignInCode, Unauthenticated | RateLimited | SealingUnavailable | StoreUnavailable>
  /** Signs in by a code, which works once. */
  readonly exchange: (
    code: string,
    request: SignInRequest
  ) => Effect.Effect<OpenedSession, Unauthenticated | RateLimited | StoreUnavailable>
}

/** Signing in by one-time codes. */
export class SignIn extends Context.Tag("gateway/identity/SignIn")<SignIn, SignInShape>() {
  static readonly layer: Layer.Layer<
    SignIn,
    never,
    AccountTransactions | Audit | MasterKey | Sessions | SignInCodeStore | Timers | UserStore
  > = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )

  /** While people sign in at an identity provider. */
  static readonly layerOff: Layer.Layer<SignIn> = Layer.succeed(this, {
    codeAtStart: Effect.succeed(undefined),
    codeFor: () =>
      Effect.fail(
        new NotFound({ message: "Users sign in with the identity provider: sign-in links are not available." })
      ),
    codeByProof: () => Effect.fail(new Unauthenticated()),
    exchange: () => Effect.fail(new Unauthenticated())
  })
}

const codeMillis = 600_000
/** As long as a proof could still be valid, its code must be known. */
const keptMillis = 24 * 3_600_000
const sweepEvery = "1 hour"

const make = Effect.gen(function* () {
  const codes = yield* SignInCodeStore
  const users = yield* UserStore
  const sessions = yield* Sessions
  const masterKey = yield* MasterKey
  const audit = yield* Audit
  const transactions = yield* AccountTransactions
  const timers = yield* Timers

  const sweep = Effect.suspend(() => codes.sweep(dateAt(timers.now() - keptMillis)))
  yield* periodically(sweepEvery, "old sign-in codes could not be deleted", sweep)

  /** Made by `actor`; `null` at the start. */
  const make = (user: Pick<User, "id" | "accountId">, actor: Actor | null, proofHash: string | null) =>
    transactions.commit(() =>
      Effect.gen(function* () {
        const code = mintCode(randomFillSync)
        const now = timers.now()
        const expiresAt = dateAt(now + codeMillis)
        const isNew = yield* codes.create({
          hash: hashOf(code),
          userId: user.id,
          sessionId: actor?.sessionId ?? null,
          proofHash,
          createdAt: dateAt(now),
          expiresAt
        })
        if (!isNew) return yield* new Unauthenticated()
        yield* audit.recordBy(actor, {
          accountId: user.accountId,
          action: "session.link",
          target: { kind: "user", id: user.id },
          before: null,
          after: { expires_at: expiresAt.toISOString() }
        })
        return { code, expiresAt }
      })
    )
  const withoutProof = (user: Pick<User, "id" | "accountId">, actor: Actor | null) =>
    Effect.catchTag(make(user, actor, null), "Unauthenticated", () =>
      Effect.dieMessage("a code without a proof is always new")
    )

  return SignIn.of({
    codeAtStart: Effect.flatMap(users.findLocalOperator, (operator) =>
      operator === undefined ? Effect.succeed(undefined) : withoutProof(operator, null)
    ),
    codeFor: (user) => withoutProof({ id: user.userId, accountId: user.accountId }, user),
    codeByProof: (proof, { address, requestId }) =>
      sessions.guarded(
        address,
        Effect.gen(function* () {
          const keys = yield* masterKey.accepted(SignInProof.proofPurpose)
          // first, so that whoever has no master key cannot make the database work
          if (!SignInProof.isValid(proof, keys, timers.now())) return yield* new Unauthenticated()
          const operator = yield* users.findLocalOperator
          if (operator === undefined) return yield* new Unauthenticated()
          return yield* make(operator, { userId: operator.id, sessionId: null, address, requestId }, hashOf(proof))
        })
      ),
    exchange: (code, request) =>
      sessions.guarded(
        request.address,
        transactions.commit(() =>
          Effect.gen(function* () {
            if (!isCode(code)) return yield* new Unauthenticated()
            const userId = yield* codes.use(hashOf(code), dateAt(timers.now()))
            const user = userId === undefined ? undefined : yield* users.find(UserId.make(userId))
            if (user === undefined) return yield* new Unauthenticated()
            return yield* sessions.open({ userId: user.id, accountId: user.accountId }, request)
          })
        )
      )
  })
})

interface Actor {
  readonly userId: UserId
  readonly sessionId: SessionId | null
  readonly address: string
  readonly requestId: RequestId
}
