import { SqlClient } from "@effect/sql/SqlClient"
import type { PgClient } from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { IdGenerator } from "../../../src/domain/IdGenerator.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { ApiKeyStore } from "../../../src/identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../../../src/identity/keys/ApiKeys.ts"
import { AccountStore } from "../../../src/identity/projects/AccountStore.ts"
import { ProjectStore } from "../../../src/identity/projects/ProjectStore.ts"
import * as ScopesStore from "../../../src/ledger/ScopesStore.ts"
import { Policy } from "../../../src/policy/Policy.ts"
import { PolicyStore } from "../../../src/policy/PolicyStore.ts"
import { RoutingConfigurationStore } from "../../../src/policy/RoutingConfigurationStore.ts"
import { RoutingConfigurations } from "../../../src/policy/RoutingConfigurations.ts"
import type { AccountSql } from "../../../src/sql/AccountDatabase.ts"
import { type Change, ChangeNotifications } from "../../../src/sql/ChangeNotifications.ts"
import * as Database from "../../../src/sql/Database.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { freshDatabase } from "../../ledger/databases.ts"

type Store = AccountSql | Database.Database | PgClient | SqlClient

const server = process.env["TEST_DATABASE_URL"]

/** A database of its own, gone afterwards. */
const postgres = (url: string) =>
  Effect.map(freshDatabase(url), (address) =>
    Database.layer({ url: Option.some(Redacted.make(address)), dataDir: "", maxConnections: 4 })
  )

/** It takes seconds to start, so that the test files of a process share one, emptied for each test. */
let opened: Promise<Context.Context<Store>> | undefined

/** Its scope stays open: it ends with the process. */
const start = Effect.flatMap(Scope.make(), (scope) =>
  Layer.buildWithScope(Database.layer({ url: Option.none(), dataDir: ":memory:" }), scope)
)

const embedded = Effect.gen(function* () {
  const context = yield* Effect.promise(() => (opened ??= Effect.runPromise(start)))
  const sql = Context.get(context, SqlClient)
  yield* sql`truncate app_user cascade`
  // The journal keeps what it has; these accounts will not come back.
  yield* sql`delete from scope`
  return Layer.succeedContext(context)
})

/** The same promises are kept by both. */
export const databases = [
  ["embedded", embedded] as const,
  ...(server === undefined ? [] : [["PostgreSQL", postgres(server)] as const])
]

/** Those that several nodes can share. */
export const sharedDatabases = databases.filter(([name]) => name === "PostgreSQL")

/** What this node has been told, from its start on. */
export class Heard extends Context.Tag("test/Heard")<Heard, Queue.Dequeue<Change | undefined>>() {
  static readonly layer = Layer.effect(
    this,
    Effect.gen(function* () {
      const queue = yield* Queue.unbounded<Change | undefined>()
      const changes = yield* ChangeNotifications
      changes.onChange((change) => queue.unsafeOffer(change))
      return queue
    })
  )
}

/** One node; its caches never age by themselves unless its timers are moved. */
export const node = <E>(database: Layer.Layer<Store, E>, timers = VirtualTimers.make(), checkEveryMillis = 50) =>
  Layer.mergeAll(ApiKeys.layer, Policy.layer, RoutingConfigurations.layer).pipe(
    Layer.provideMerge(Heard.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        AccountStore.layer,
        ApiKeyStore.layer,
        RoutingConfigurationStore.layer,
        PolicyStore.layer,
        ProjectStore.layer,
        ScopesStore.layer
      )
    ),
    Layer.provideMerge(ChangeNotifications.layerWith({ checkEveryMillis })),
    Layer.provideMerge(Layer.merge(database, IdGenerator.layer)),
    // only the timers are virtual: a real database answers in real time
    Layer.provideMerge(Layer.succeed(Timers, timers))
  )

/** Waits until the node has been told this. */
export const told = (wanted: Change | undefined) =>
  Effect.flatMap(Heard, (heard) =>
    Queue.take(heard).pipe(
      Effect.repeat({
        until: (change) => change === wanted || (change?.kind === wanted?.kind && change?.id === wanted?.id)
      })
    )
  )
