import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { NotFound } from "../../domain/AccountError.ts"
import type { CurrentUserShape } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { type RateLimited, type StoreUnavailable, Unauthenticated } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { type AccountId, type RequestId, SessionId, type UserId } from "../../domain/Ids.ts"
import { periodically } from "../../domain/Periodic.ts"
import { Timers } from "../../domain/Timers.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import * as RowCache from "../../sql/RowCache.ts"
import { loggedLimits } from "../keys/FailureLimits.ts"
import { RecentUses } from "./RecentUses.ts"
import { type Session, SessionStore, type SignedIn } from "./SessionStore.ts"
import { hashOf, isToken, mintToken, pageTokenOf } from "./SessionToken.ts"

/** The request by which a person signs in. */
export interface SignInRequest {
  readonly transport: Session["transport"]
  readonly address: string
  readonly userAgent: string | undefined
  readonly requestId: RequestId
}

export interface OpenedSession {
  readonly id: SessionId
  readonly token: string
  readonly pageToken: string
  readonly expiresAt: Date
}

export interface SessionsShape {
  /** Signs a person in. To be used in the transaction of what proves who they are. */
  readonly open: (
    user: { readonly userId: UserId; readonly accountId: AccountId },
    request: SignInRequest
  ) => Effect.Effect<OpenedSession, StoreUnavailable>
  /** An address with many failures is rate limited, except for tokens that are cached. */
  readonly authenticate: (
    token: string,
    address: string
  ) => Effect.Effect<SignedIn, Unauthenticated | RateLimited | StoreUnavailable>
  /** Counts failures of a sign-in as those of `authenticate`. */
  readonly guarded: <A, E>(
    address: string,
    signIn: Effect.Effect<A, E | Unauthenticated>
  ) => Effect.Effect<A, E | Unauthenticated | RateLimited>
  readonly find: (userId: UserId, id: SessionId) => Effect.Effect<Session, NotFound | StoreUnavailable>
  /** The person's sessions that have not ended, newest first, those before `before`. */
  readonly list: (
    userId: UserId,
    max: number,
    before: SessionId | undefined
  ) => Effect.Effect<ReadonlyArray<Session>, StoreUnavailable>
  /** Ends one of the person's own sessions on every node. */
  readonly revoke: (user: CurrentUserShape, id: SessionId) => Effect.Effect<void, NotFound | StoreUnavailable>
}

/** Sessions of people, each with a random token. */
export class Sessions extends Context.Tag("gateway/identity/Sessions")<Sessions, SessionsShape>() {
  static readonly layer: Layer.Layer<
    Sessions,
    never,
    AccountTransactions | Audit | ChangeNotifications | IdGenerator | SessionStore | Timers
  > = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

export const maxIdleMillis = 12 * 3_600_000
export const maxSessionMillis = 7 * 24 * 3_600_000
const sweepEvery = "1 hour"
const maxUserAgentCharacters = 200

const make = Effect.gen(function* () {
  const store = yield* SessionStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const timers = yield* Timers
  const ids = yield* IdGenerator
  const failures = yield* loggedLimits(timers, "identity")

  const validMillis = ({ expiresAt, seenAt }: SignedIn): number =>
    Math.min(expiresAt.getTime(), seenAt.getTime() + maxIdleMillis) - timers.now()

  const cache = yield* RowCache.make<SignedIn, null>({
    load: (hash) =>
      Effect.map(store.findByToken(hash), (found) =>
        found !== undefined && validMillis(found) > 0 ? found : undefined
      ),
    absent: null,
    kinds: ["session", "user"],
    concerns: ({ id, kind }, session) => id === (kind === "session" ? session.id : session.userId),
    validMillis
  })

  const sweep = Effect.suspend(() => store.sweep(dateAt(timers.now())))
  yield* periodically(sweepEvery, "ended sessions could not be deleted", sweep)

  const uses = new RecentUses()
  const used = (session: SignedIn): Effect.Effect<SignedIn> => {
    const now = timers.now()
    if (!uses.isDue(session, now)) return Effect.succeed(session)
    // the session is valid even where its use cannot be written down
    return Effect.as(Effect.ignore(store.touch(session.id, dateAt(now))), session)
  }

  return Sessions.of({
    guarded: (address, signIn) => failures.guard(address, signIn),
    open: (user, request) =>
      Effect.gen(function* () {
        const token = mintToken(randomFillSync)
        const now = timers.now()
        const session = {
          id: SessionId.make(ids.uuid()),
          userId: user.userId,
          transport: request.transport,
          address: request.address,
          userAgent: request.userAgent?.slice(0, maxUserAgentCharacters) ?? null,
          createdAt: dateAt(now),
          seenAt: dateAt(now),
          expiresAt: dateAt(now + maxSessionMillis)
        }
        yield* store.create(session, hashOf(token))
        yield* audit.recordBy(
          { userId: user.userId, address: request.address, requestId: request.requestId },
          {
            accountId: user.accountId,
            action: "session.create",
            target: { kind: "session", id: session.id },
            before: null,
            after: { transport: session.transport }
          }
        )
        return { id: session.id, token, pageToken: pageTokenOf(token), expiresAt: session.expiresAt }
      }),
    authenticate: (token, address) =>
      Effect.suspend(() => {
        const hash = hashOf(token)
        const cached = isToken(token) ? cache.peek(hash) : null
        if (cached !== undefined && cached !== null) return used(cached)
        const found = cached === null ? Effect.succeed(null) : cache.get(hash)
        return failures.guard(
          address,
          Effect.flatMap(found, (session) => (session === null ? Effect.fail(new Unauthenticated()) : used(session)))
        )
      }),
    find: (userId, id) =>
      Effect.flatMap(store.find(userId, id), (found) =>
        found === undefined ? Effect.fail(noSuchSession) : Effect.succeed(found)
      ),
    list: (userId, max, before) =>
      Effect.suspend(() => {
        const now = timers.now()
        return store.list({ userId, max, before, now: dateAt(now), seenAfter: dateAt(now - maxIdleMillis) })
      }),
    revoke: (user, id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const isRevoked = yield* store.revoke(user.userId, id, dateAt(timers.now()))
          if (!isRevoked) return yield* noSuchSession
          yield* audit.recordBy(user, {
            accountId: user.accountId,
            action: "session.revoke",
            target: { kind: "session", id },
            before: null,
            after: null
          })
        })
      )
  })
})

const noSuchSession = new NotFound({ message: "Session not found." })
