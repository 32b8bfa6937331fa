import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Ids } from "../domain/Ids.ts"

export interface LedgerNodeShape {
  readonly id: string
}

/** This process, as its holds name it. Known to the database before its first hold, or that would pass for an orphan. */
export class LedgerNode extends Context.Tag("gateway/ledger/LedgerNode")<LedgerNode, LedgerNodeShape>() {
  static readonly layer: Layer.Layer<LedgerNode, SqlError, SqlClient | Ids> = Layer.effect(
    this,
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const ids = yield* Ids
      const id = ids.uuid()
      yield* sql`insert into node (id) values (${id})`
      return { id }
    })
  )
}
