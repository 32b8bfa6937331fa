import { randomFillSync } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Audit } from "../../../src/audit/Audit.ts"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { MasterKey } from "../../../src/credentials/MasterKey.ts"
import { AccountId, RequestId, UserId } from "../../../src/domain/Ids.ts"
import { AccountStore } from "../../../src/identity/projects/AccountStore.ts"
import { SessionStore } from "../../../src/identity/sessions/SessionStore.ts"
import { Sessions } from "../../../src/identity/sessions/Sessions.ts"
import { SignIn } from "../../../src/identity/sessions/SignIn.ts"
import { SignInCodeStore } from "../../../src/identity/sessions/SignInCodeStore.ts"
import * as SignInProof from "../../../src/identity/sessions/SignInProof.ts"
import { UserStore } from "../../../src/identity/users/UserStore.ts"
import { AccountTransactions } from "../../../src/sql/AccountDatabase.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { masterKey } from "../../support/Service.ts"
import { databases, node } from "../keys/Nodes.ts"

const userId = UserId.make("00000000-0000-7000-8000-000000000001")
const accountId = AccountId.make("00000000-0000-7000-8000-000000000002")
const requestId = RequestId.make("00000000-0000-7000-8000-000000000003")
const startMillis = Date.UTC(2026, 0, 1)
const maxFailures = 1_000

type AnyDatabase = Parameters<typeof node>[0]

/** Notes each look at the operator, which a proof is exchanged for. */
const usersNoting = (looks: Array<number>, timers: VirtualTimers.VirtualTimers): typeof UserStore.layer =>
  Layer.effect(
    UserStore,
    Effect.map(UserStore, (store) => ({
      ...store,
      findLocalOperator: Effect.zipRight(
        Effect.sync(() => looks.push(timers.now())),
        store.findLocalOperator
      )
    }))
  ).pipe(Layer.provide(UserStore.layer))

const signInOn = <E>(
  database: Layer.Layer<Layer.Layer.Success<AnyDatabase>, E>,
  timers: VirtualTimers.VirtualTimers,
  looks: Array<number>
) =>
  SignIn.layer.pipe(
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(
      Layer.mergeAll(AuditStore.layer, SessionStore.layer(null), SignInCodeStore.layer, usersNoting(looks, timers))
    ),
    Layer.provideMerge(AccountTransactions.layer),
    Layer.provideMerge(MasterKey.layer({ current: Redacted.make(masterKey), previous: null, directory: null })),
    Layer.provideMerge(node(database, timers))
  )

const outcome = (proof: string, address: string) =>
  Effect.flatMap(SignIn, (signIn) =>
    Effect.match(signIn.codeByProof(proof, { address, requestId }), {
      onSuccess: () => "Code",
      onFailure: ({ _tag }) => _tag
    })
  )

describe.each(databases)("proofs of the master key on %s", (_, database) => {
  it.scopedLive("that are wrong are counted by address, and look up nobody", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      const timers = VirtualTimers.make(startMillis)
      const context = yield* Layer.build(signInOn(yield* database, timers, looks))
      yield* Effect.gen(function* () {
        yield* (yield* AccountStore).create({ userId, accountId, name: "the operator", isOperator: true })
        const key = yield* (yield* MasterKey).derived(SignInProof.proofPurpose)
        const right = Effect.sync(() => SignInProof.make(key, timers.now(), randomFillSync))
        const wrong = Effect.sync(() => SignInProof.make(Buffer.alloc(32), timers.now(), randomFillSync))
        const tried = (proof: Effect.Effect<string>, address: string) =>
          Effect.flatMap(proof, (made) => outcome(made, address))

        const failed = yield* Effect.all(
          Array.from({ length: maxFailures }, () => tried(wrong, "10.0.0.1")),
          { concurrency: 10 }
        )
        expect(new Set(failed)).toEqual(new Set(["Unauthenticated"]))
        expect(looks).toEqual([])
        expect([yield* tried(wrong, "10.0.0.1"), yield* tried(right, "10.0.0.1")]).toEqual([
          "RateLimited",
          "RateLimited"
        ])
        expect(looks).toEqual([])
        expect([yield* tried(wrong, "10.0.0.2"), yield* tried(right, "10.0.0.2")]).toEqual(["Unauthenticated", "Code"])
        timers.advance(60_000)
        expect(yield* tried(right, "10.0.0.1")).toBe("Code")
      }).pipe(Effect.provide(context))
    })
  )
})
