import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import {
  Accounts,
  Billing,
  CurrentUser,
  type DatabaseLayerOptions,
  ProductionLayer,
  ProjectRoutings,
  Projects,
  RequestLog
} from "../../src/index.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../ledger/databases.ts"

const databases: ReadonlyArray<readonly [string, Effect.Effect<DatabaseLayerOptions, never, Scope.Scope>]> = [
  ...(skipsEmbedded ? [] : [["embedded", Effect.succeed({ directory: ":memory:" })] as const]),
  ...(postgresServer === undefined
    ? []
    : [["PostgreSQL", Effect.map(freshDatabase(postgresServer), (url) => ({ url: Redacted.make(url) }))] as const])
]

/** No ids, though some databases would read the last two as one. */
const noIds = [
  "",
  "nonsense",
  "chatcmpl-1",
  "a\0b",
  "01930000000070008000000000000001",
  "{01930000-0000-7000-8000-000000000001}"
]

const settings = {
  name: "cheap",
  models: null,
  providers: null,
  alpha: null,
  max_input_price_microusd_per_million: null,
  max_output_price_microusd_per_million: null,
  enable_fallback: true
}

describe.each(databases)("what cannot exist is not found, on %s", (_, database) => {
  it.scopedLive("whether it is looked up, listed from, or filtered by", () =>
    Effect.gen(function* () {
      const stack = ProductionLayer({ database: yield* database, providers: { simulated: true } })
      yield* Effect.gen(function* () {
        const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000 })
        yield* Effect.gen(function* () {
          const [log, billing, routings] = yield* Effect.all([RequestLog, Billing, ProjectRoutings])
          const { id: project } = yield* (yield* Projects).create("search")
          yield* routings.create(project, "cheap", settings)
          expect(yield* billing.entries(10, undefined)).toHaveLength(1)
          expect(yield* routings.list(project, 10, undefined)).toHaveLength(1)

          const nothing = { items: [], next: null }
          for (const id of noIds) {
            expect(yield* log.find(id)).toEqual(Option.none())
            expect(yield* log.page(project, {}, id, 10)).toEqual(nothing)
            expect(yield* billing.entries(10, id)).toEqual([])
            expect(yield* routings.list(project, 10, id)).toEqual([])
          }
          for (const filter of [{ model: "a\0b" }, { provider: "a\0b" }, { q: "a\0b" }]) {
            expect(yield* log.page(project, filter, null, 10)).toEqual(nothing)
          }
          expect(yield* Effect.flip(routings.read(project, "a\0b"))).toMatchObject({ _tag: "NotFound" })
          for (const version of [0.5, -1, 2 ** 40, Number.NaN]) {
            expect(yield* Effect.flip(routings.activate(project, "cheap", version))).toMatchObject({
              _tag: "InvalidRequest",
              param: "version"
            })
          }
          expect((yield* routings.versions(project, "cheap", 10, 2 ** 40)).versions).toHaveLength(1)
        }).pipe(Effect.provideService(CurrentUser, user))
      }).pipe(Effect.provide(stack))
    })
  )
})
