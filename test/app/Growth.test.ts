import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Database from "../../src/sql/Database.ts"
import { tables } from "../../src/sql/transfer/Tables.ts"

const operations = readFileSync(new URL("../../src/app/README.md", import.meta.url), "utf8")

it.scopedLive(
  "the operations page says of every table when its rows are deleted, or why they are not",
  () =>
    Effect.gen(function* () {
      const growth = operations.split("\n## Growth\n")[1]?.split("\n## ")[0] ?? ""
      const named = [...growth.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)
      )
      const alsoNamed = [...growth.matchAll(/; `(\w+)` never/g)].map(([, name]) => name)
      const existing = (yield* tables).map(({ name }) => name)
      expect([...named, ...alsoNamed].sort()).toEqual([...existing].sort())
    }).pipe(Effect.provide(Database.layer({ url: Option.none(), dataDir: ":memory:" }))),
  120_000
)
