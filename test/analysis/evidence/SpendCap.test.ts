import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as GatewayCalls from "../../../src/analysis/evidence/GatewayCalls.ts"
import { ModelCalls } from "../../../src/analysis/evidence/ModelCalls.ts"
import { KeyId } from "../../../src/domain/Ids.ts"
import {
  Accounts,
  CurrentUser,
  type DatabaseLayerOptions,
  Ledger,
  makeProvider,
  ProductionLayer,
  Projects
} from "../../../src/index.ts"
import { Scopes } from "../../../src/ledger/Scopes.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../../ledger/databases.ts"
import { answer, model, question } from "./asking.ts"

const databases: ReadonlyArray<readonly [string, Effect.Effect<DatabaseLayerOptions, never, Scope.Scope>]> = [
  ...(skipsEmbedded ? [] : [["embedded", Effect.succeed({ directory: ":memory:" })] as const]),
  ...(postgresServer === undefined
    ? []
    : [["PostgreSQL", Effect.map(freshDatabase(postgresServer), (url) => ({ url: Redacted.make(url) }))] as const])
]

const provider = makeProvider("mine", answer)

const withStack = <A, E, R>(options: DatabaseLayerOptions, test: Effect.Effect<A, E, R>) =>
  Effect.provide(
    test,
    ProductionLayer({ database: options, providers: { providers: [{ provider, models: [model] }] } })
  )

describe.each(databases)("the spend cap of an analysis, on %s", (_, database) => {
  it.scopedLive("bounds what 100 replays at the same time spend, and their calls are the project's", () =>
    Effect.gen(function* () {
      yield* withStack(
        yield* database,
        Effect.gen(function* () {
          const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 10_000_000 })
          const project = yield* Effect.provideService((yield* Projects).create("search"), CurrentUser, user)
          const analysisId = randomUUID()
          const maxSpendMicroUsd = 20_000
          const cap = {
            analysisId,
            maxSpendMicroUsd,
            caller: { projectId: project.id, accountId: user.accountId, billingMode: "managed" as const },
            rateLimit: null
          }
          const mayFlow = () => Effect.succeed(true)
          const ask = Effect.flatMap(ModelCalls, (calls) => Effect.either(calls.ask(question)))
          const answers = yield* Effect.all(
            Array.from({ length: 100 }, () => ask),
            { concurrency: "unbounded" }
          ).pipe(Effect.provide(GatewayCalls.layer(cap, mayFlow)))
          yield* (yield* Ledger).flushed

          const paid = answers.filter(Either.isRight)
          const refused = answers.filter(Either.isLeft).map(({ left }) => left._tag)
          expect(paid.length).toBeGreaterThanOrEqual(12)
          expect(new Set(refused)).toEqual(new Set(["CapReached"]))
          const state = Option.getOrThrow(yield* (yield* Scopes).read(KeyId.make(analysisId)))
          expect(state).toMatchObject({ kind: "key", limitMicroUsd: maxSpendMicroUsd, heldMicroUsd: 0 })
          // a complete answer is paid in full; one that the cap has cut short counts too, and is not taken for an answer
          expect(paid.map(({ right }) => right.costMicroUsd)).toEqual(paid.map(() => 1_020))
          expect(state.spentMicroUsd).toBeGreaterThanOrEqual(paid.length * 1_020)
          expect(state.spentMicroUsd).toBeLessThanOrEqual(maxSpendMicroUsd)

          const sql = yield* SqlClient
          const calls = yield* sql<{
            readonly cost: number
          }>`select cost_micro_usd::int as cost, project_id, token_doctor
            from call where key_id = ${analysisId}`
          expect(calls.reduce((sum, { cost }) => sum + cost, 0)).toBe(state.spentMicroUsd)
          expect(calls).toEqual(calls.map(({ cost }) => ({ cost, project_id: project.id, token_doctor: false })))
          const again = yield* ask.pipe(
            Effect.provide(GatewayCalls.layer({ ...cap, maxSpendMicroUsd: 1_000_000 }, mayFlow))
          )
          // the cap that an analysis began with stays, whatever a later run is told
          expect(Either.isLeft(again)).toBe(true)
        })
      )
    })
  )
})
