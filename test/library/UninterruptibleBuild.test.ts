import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { ProductionLayer, type ProductionOptions } from "../../src/index.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../ledger/databases.ts"

type Database = ProductionOptions["database"]

const databases: ReadonlyArray<readonly [string, Effect.Effect<Database, never, Scope.Scope>]> = [
  ...(skipsEmbedded ? [] : [["embedded", Effect.succeed({ directory: ":memory:" })] as const]),
  ...(postgresServer === undefined
    ? []
    : [["PostgreSQL", Effect.map(freshDatabase(postgresServer), (url) => ({ url: Redacted.make(url) }))] as const])
]

it.scopedLive.each(databases)(
  "a stack that is built where nothing can be interrupted is closed, on %s",
  ([, database]) =>
    Effect.gen(function* () {
      const perMinute = { requestsPerMinute: 600, tokensPerMinute: null, concurrentRequests: null }
      const stack = ProductionLayer({
        database: yield* database,
        providers: { simulated: true },
        idempotency: { secret: Redacted.make("a secret of this test") },
        rateLimits: { key: perMinute, project: perMinute }
      })
      const scope = yield* Scope.make()
      yield* Effect.uninterruptible(Layer.buildWithScope(stack, scope))
      const closed = yield* Scope.close(scope, Exit.void).pipe(Effect.disconnect, Effect.timeoutOption("20 seconds"))
      expect(closed._tag).toBe("Some")
    }),
  40_000
)
