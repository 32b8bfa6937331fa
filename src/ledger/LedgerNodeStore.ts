import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdGenerator } from "../domain/IdGenerator.ts"

export interface LedgerNodeShape {
  readonly id: string
}

/** The id of this process in its holds. Written to the database before the first hold, which would count as orphaned otherwise. */
export class LedgerNode extends Context.Tag("gateway/ledger/LedgerNode")<LedgerNode, LedgerNodeShape>() {
  static readonly layer: Layer.Layer<LedgerNode, SqlError, SqlClient | IdGenerator> = Layer.effect(
    this,
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const ids = yield* IdGenerator
      const id = ids.uuid()
      yield* sql`insert into node (id) values (${id})`
      return { id }
    })
  )
}
