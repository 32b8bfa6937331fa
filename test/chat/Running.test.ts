import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ConversationStore } from "../../src/chat/ConversationStore.ts"
import { UserId } from "../../src/domain/Ids.ts"
import { databases } from "../ledger/databases.ts"

/** How many answers of a person count as running, of two that a node writes which was heard so many seconds ago. */
const running = (heardSecondsAgo: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const user = UserId.make(randomUUID())
    const [account, project, node] = [randomUUID(), randomUUID(), randomUUID()]
    yield* sql`insert into node (id, seen_at) values (${node}, now() - ${`${heardSecondsAgo} seconds`}::interval)`
    yield* sql`insert into app_user (id, name) values (${user}, 'u')`
    yield* sql`insert into account (id, user_id) values (${account}, ${user})`
    yield* sql`insert into project (id, account_id, name) values (${project}, ${account}, 'p')`
    for (const turn of [randomUUID(), randomUUID(), null]) {
      yield* sql`insert into conversation (id, user_id, project_id, title, turn_id, node_id, created_at, updated_at)
        values (${randomUUID()}, ${user}, ${project}, 't', ${turn}, ${turn === null ? null : node}, now(), now())`
    }
    return yield* sql.withTransaction((yield* ConversationStore).lockRunning(user))
  })

for (const [name, database] of databases) {
  layer(Layer.provideMerge(ConversationStore.layer, database), { timeout: 60_000 })(
    `the answers that are written for a person, ${name}`,
    (it) => {
      it.effect("count also before the first heartbeat after an outage of the database", () =>
        Effect.gen(function* () {
          expect(yield* running(5)).toBe(2)
          expect(yield* running(300)).toBe(2)
        })
      )
    }
  )
}
