import { SqlClient } from "@effect/sql/SqlClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Database from "../../src/sql/Database.ts"
import { erasedArtifactCalls } from "../../src/sql/migrations/0056_erased_artifact_calls.ts"

const uuid = (id: number) => `00000000-0000-7000-8000-${String(id).padStart(12, "0")}`

interface Call {
  readonly name: string
  readonly arguments: string
  readonly result: string
  readonly isError: boolean
}

const write = (name: string): Call => ({
  name: "write_artifact",
  arguments: JSON.stringify({ name, media_type: "text/html", content: "secret \0" }),
  result: JSON.stringify({ name, version: 1, size_bytes: 8 }),
  isError: false
})
const edit: Call = {
  name: "edit_artifact",
  arguments: JSON.stringify({ name: "é.html", old_text: "secret", new_text: "secret 2" }),
  result: JSON.stringify({ name: "é.html", version: 2, size_bytes: 8 }),
  isError: false
}
/** It names two artifacts. */
const cut: Call = {
  name: "write_artifact",
  arguments: '{"name":"é.html","content":"secr","x',
  result: "The arguments are not valid: Unterminated string in secr",
  isError: true
}
const unknown: Call = { name: "other", arguments: "{", result: "There is no tool 'other'.", isError: true }

it.scopedLive(
  "calls that have written an artifact which an older version deleted have no text of it any more, and no other call loses its own",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* sql`insert into app_user (id, name) values (${uuid(1)}, 'x')`
      yield* sql`insert into account (id, user_id) values (${uuid(1)}, ${uuid(1)})`
      yield* sql`insert into project (id, account_id, name) values (${uuid(1)}, ${uuid(1)}, 'default')`
      const steps = JSON.stringify([
        { at: 0, calls: [write("é.html"), unknown, write("b.html")] },
        { at: 4, calls: [] },
        { at: 9, calls: [edit, cut] }
      ])
      for (const conversation of [1, 2]) {
        yield* sql`insert into conversation (id, user_id, project_id, title, created_at, updated_at)
          values (${uuid(conversation)}, ${uuid(1)}, ${uuid(1)}, 't', now(), now())`
        for (const [position, at] of [new Date(1_000), new Date(3_000)].entries()) {
          yield* sql`insert into chat_message (id, conversation_id, position, role, status, content, steps, created_at)
            values (${uuid(10 * conversation + position)}, ${uuid(conversation)}, ${position}, 'assistant', 'complete', 'text',
              ${steps}::jsonb, ${at})`
        }
      }
      yield* sql`insert into chat_artifact (id, conversation_id, name, created_at, deleted_at)
        values (${uuid(1)}, ${uuid(1)}, 'é.html', now(), ${new Date(2_000)}), (${uuid(2)}, ${uuid(1)}, 'b.html', now(), null),
          (${uuid(3)}, ${uuid(2)}, 'é.html', now(), null), (${uuid(4)}, ${uuid(1)}, 'secr', now(), ${new Date(2_000)})`
      yield* erasedArtifactCalls
      const rows = yield* sql<{
        readonly steps: ReadonlyArray<{ readonly calls: ReadonlyArray<Call> }>
      }>`select steps from chat_message order by id`
      expect(rows.slice(1).map((row) => row.steps)).toEqual(Array.from({ length: 3 }, () => JSON.parse(steps)))
      const calls = rows[0]?.steps.map((step) => step.calls) ?? []
      expect(calls).toMatchObject([
        [{ result: write("é.html").result }, unknown, write("b.html")],
        [],
        [{}, { result: "The arguments are not valid." }]
      ])
      expect(calls[2]).toHaveLength(2)
      const note = "[deleted by the user]"
      const whole = { name: "é.html", media_type: "text/plain", content: note }
      const argumentsAt = (step: number, at: number): unknown => JSON.parse(calls[step]?.[at]?.arguments ?? "null")
      expect([argumentsAt(0, 0), argumentsAt(2, 0), argumentsAt(2, 1)]).toEqual([
        whole,
        { name: "é.html", old_text: note, new_text: note },
        { ...whole, name: expect.any(String) }
      ])
    }).pipe(Effect.provide(Database.layer({ url: Option.none(), dataDir: ":memory:" }))),
  60_000
)
