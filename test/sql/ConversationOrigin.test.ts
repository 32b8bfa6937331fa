import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Database from "../../src/sql/Database.ts"
import { conversationOrigin } from "../../src/sql/migrations/0035_conversation_origin.ts"
import { freshDatabase, postgresServer } from "../ledger/databases.ts"

const kinds = postgresServer === undefined ? (["embedded"] as const) : (["embedded", "PostgreSQL"] as const)

const keys = [
  { id: 1, kind: "dashboard", name: "Dashboard of Ada", after: "Chat of Ada" },
  // only the beginning is of the gateway, the rest is the name of a person
  { id: 2, kind: "dashboard", name: "Dashboard of Dashboard of 100 %", after: "Chat of Dashboard of 100 %" },
  { id: 3, kind: "dashboard", name: "Chat of Grace", after: "Chat of Grace" },
  // people have renamed these, or named them
  { id: 4, kind: "dashboard", name: "My Dashboard of x", after: "My Dashboard of x" },
  { id: 5, kind: "dashboard", name: "dashboard of y", after: "dashboard of y" },
  { id: 6, kind: "secret", name: "Dashboard of ci", after: "Dashboard of ci" }
]

const uuid = (id: number) => `00000000-0000-7000-8000-${String(id).padStart(12, "0")}`

describe.each(kinds)("keys of an older database, on %s", (kind) => {
  it.scopedLive(
    "are named after conversations where they were made for them, and no other key is",
    () =>
      Effect.gen(function* () {
        const url =
          kind === "embedded" ? Option.none() : Option.some(Redacted.make(yield* freshDatabase(postgresServer ?? "")))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient
          for (const { id, kind: of, name } of keys) {
            yield* sql`insert into app_user (id, name) values (${uuid(id)}, 'x')`
            if (id === 1) {
              yield* sql`insert into account (id, user_id) values (${uuid(1)}, ${uuid(1)})`
              yield* sql`insert into project (id, account_id, name) values (${uuid(1)}, ${uuid(1)}, 'default')`
            }
            yield* sql`insert into api_key (id, hash, key_prefix, name, project_id, kind, user_id)
              values (${uuid(id)}, ${Buffer.alloc(32, id)}, 'mrg_sk_01234', ${name}, ${uuid(1)}, ${of},
                ${of === "dashboard" ? uuid(id) : null})`
          }
          const names = Effect.map(sql<{ readonly name: string }>`select name from api_key order by id`, (rows) =>
            rows.map(({ name }) => name)
          )
          expect(yield* names).toEqual(keys.map(({ name }) => name))
          yield* conversationOrigin
          expect(yield* names).toEqual(keys.map(({ after }) => after))
        }).pipe(Effect.provide(Database.layer({ url, dataDir: ":memory:" })))
      }),
    60_000
  )
})
