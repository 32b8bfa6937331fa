import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { modelsOf } from "../../src/ledger/ModelNumberStore.ts"
import { databases } from "./databases.ts"
import { newCaller, option, settled, wants } from "./fixtures.ts"

/** The row of a call that chose among these models, with them as they are read. */
const logged = (models: Arr.NonEmptyReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const ledger = yield* Ledger
    const hold = yield* ledger.reserve(wants(yield* newCaller({}), option(10)))
    yield* ledger.settle(hold, settled(5, { pool: { models } }))
    yield* ledger.flushed
    const [row] = yield* decodeRow(yield* sql`select pool, pool_numbers as numbers from call where id = ${hold.callId}`)
    const read = row.numbers === null ? row.pool : (yield* modelsOf(sql, [row.numbers])).get(row.numbers)
    return { ...row, models: read }
  })

const decodeRow = Schema.decodeUnknown(
  Schema.Tuple(Schema.Struct({ pool: Schema.Array(Schema.String), numbers: Schema.NullOr(Schema.String) }))
)

/** The first row that is written with numbers, and how many were written before it. */
const numbered = (models: Arr.NonEmptyReadonlyArray<string>) =>
  Effect.gen(function* () {
    for (let before = 0; before < 200; before++) {
      const row = yield* logged(models)
      expect(row.models).toEqual(models)
      if (row.numbers !== null) return { before, row }
    }
    return yield* Effect.dieMessage("no row has numbers")
  })

for (const [name, database] of databases) {
  describe(`the models of calls on ${name}`, () => {
    const services = LedgerLayer().pipe(
      Layer.provideMerge(database),
      Layer.provide(IdGenerator.layer),
      Layer.provideMerge(Timers.layer)
    )
    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      const models = Arr.map(Arr.range(1, 100), (at) => `acme/model-${at}`)

      it.effect("are names until the database has numbered them, then numbers, in their order", () =>
        Effect.gen(function* () {
          const { before, row } = yield* numbered(models)
          expect(before).toBeGreaterThan(0)
          expect(row.pool).toEqual(["acme/model-1"])
          const other = Arr.reverse(models)
          expect(yield* logged(other)).toMatchObject({ pool: ["acme/model-100"], models: other })
          const more = Arr.append(models, "acme/another")
          expect(yield* logged(more)).toEqual({ pool: more, numbers: null, models: more })
        })
      )

      it.effect("have the same numbers for another node", () =>
        Effect.gen(function* () {
          const { row } = yield* numbered(models)
          const another = LedgerLayer().pipe(Layer.provide(IdGenerator.layer))
          const elsewhere = yield* Effect.provide(numbered(models), another)
          expect(elsewhere.before).toBeGreaterThan(0)
          expect(elsewhere.row).toEqual(row)
        })
      )

      it.effect("are names where there is one, or one that no index takes", () =>
        Effect.gen(function* () {
          const long = ["acme/model-1", "x".repeat(2_000)] as const
          yield* numbered(models)
          for (let at = 0; at < 3; at++) {
            expect(yield* logged(["acme/model-1"])).toMatchObject({ pool: ["acme/model-1"], numbers: null })
            expect(yield* logged(long)).toMatchObject({ pool: long, numbers: null })
          }
        })
      )

      it.effect("are names as long as the database gives no numbers", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const unheard = ["acme/b-1", "acme/b-2"] as const
          yield* sql`alter table model_number rename to model_number_away`
          for (let at = 0; at < 3; at++) {
            expect(yield* logged(unheard)).toEqual({ pool: unheard, numbers: null, models: unheard })
          }
          yield* sql`alter table model_number_away rename to model_number`
          expect((yield* numbered(unheard)).row).toMatchObject({ pool: ["acme/b-1"], models: unheard })
        })
      )
    })
  })
}
