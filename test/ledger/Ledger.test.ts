import { describe, layer } from "@effect/vitest"
import * as Layer from "effect/Layer"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { LedgerLayer } from "../../src/ledger/Ledger.ts"
import { MemoryLedger } from "../../src/testing/doubles/MemoryLedger.ts"
import { promises } from "./contract.ts"
import { databases } from "./databases.ts"

describe("in memory", () => {
  layer(MemoryLedger.layer)((it) => promises(it))
})

for (const [name, database] of databases) {
  describe(`on ${name}`, () => {
    layer(
      LedgerLayer().pipe(
        Layer.provideMerge(database),
        Layer.provide(IdGenerator.layer),
        Layer.provideMerge(Timers.layer)
      ),
      {
        timeout: 30_000,
        excludeTestServices: true
      }
    )((it) => promises(it))
  })
}
