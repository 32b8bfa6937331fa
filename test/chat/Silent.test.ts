import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MessageStore } from "../../src/chat/MessageStore.ts"
import { databases } from "../ledger/databases.ts"

/** An answer that another node writes; both nodes were heard last, and without a gap since, so many seconds ago. */
const answer = (heard: { readonly self: readonly [since: number, last: number]; readonly other: number }) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const [user, account, project, conversation, message] = Array.from({ length: 5 }, () => randomUUID())
    const [self, other] = [randomUUID(), randomUUID()]
    const before = (seconds: number) => sql`now() - ${`${seconds} seconds`}::interval`
    yield* sql`insert into node (id, heard_since, seen_at)
      values (${self}, ${before(heard.self[0])}, ${before(heard.self[1])}),
        (${other}, ${before(600)}, ${before(heard.other)})`
    yield* sql`insert into app_user (id, name) values (${user}, 'u')`
    yield* sql`insert into account (id, user_id) values (${account}, ${user})`
    yield* sql`insert into project (id, account_id, name) values (${project}, ${account}, 'p')`
    yield* sql`insert into conversation (id, user_id, project_id, title, turn_id, node_id, created_at, updated_at)
      values (${conversation}, ${user}, ${project}, 't', ${message}, ${other}, now(), now())`
    yield* sql`insert into chat_message (id, conversation_id, position, role, status, content, created_at)
      values (${message}, ${conversation}, 1, 'assistant', 'streaming', 'half', now())`
    const ended = yield* (yield* MessageStore).interrupt(self, [], false)
    return ended.some((id) => id === conversation)
  })

for (const [name, database] of databases) {
  layer(Layer.provideMerge(MessageStore.layer, database), { timeout: 60_000 })(
    `the answer of a silent node, ${name}`,
    (it) => {
      it.effect("is ended by a node that has been heard all the time", () =>
        Effect.gen(function* () {
          expect(yield* answer({ self: [61, 5], other: 61 })).toBe(true)
          expect(yield* answer({ self: [61, 5], other: 59 })).toBe(false)
        })
      )

      it.effect("is left alone by a node that was away with the database, until it has been heard as long", () =>
        Effect.gen(function* () {
          // before its first heartbeat after the outage, just after it, and a second too early
          expect(yield* answer({ self: [600, 65], other: 65 })).toBe(false)
          expect(yield* answer({ self: [0, 0], other: 65 })).toBe(false)
          expect(yield* answer({ self: [59, 5], other: 124 })).toBe(false)
        })
      )
    }
  )
}
