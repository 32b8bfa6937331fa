import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { Change } from "../../src/sql/ChangeNotifications.ts"
import { databases, Heard, node, told } from "../identity/keys/Nodes.ts"

const user = "00000000-0000-4000-8000-000000000001"
const project = "00000000-0000-4000-8000-000000000002"
const row = "00000000-0000-4000-8000-000000000003"
const account = "00000000-0000-4000-8000-000000000004"
const of = (kind: Change["kind"], id: string): Change => ({ kind, id })

const owners = `insert into app_user (id, name) values ('${user}', 'Ada');
  insert into account (id, user_id) values ('${account}', '${user}');
  insert into project (id, account_id, name) values ('${project}', '${account}', 'First')`

/** In this order: what each statement that nobody announces tells the nodes. */
const writes: ReadonlyArray<readonly [statement: string, told: ReadonlyArray<Change>]> = [
  [
    `insert into api_key (id, hash, key_prefix, name, project_id)
      values ('${row}', decode(repeat('00', 32), 'hex'), 'mrg_sk_12345', 'one', '${project}')`,
    [of("key", row)]
  ],
  [`update api_key set is_active = false, revoked_at = now() where id = '${row}'`, [of("key", row)]],
  [`delete from api_key where id = '${row}'`, [of("key", row)]],
  [`update project set allowed_models = '{}' where id = '${project}'`, [of("project", project)]],
  [
    `insert into experiment (id, project_id, action_id, fields_before, fields_after, share, started_by, ends_at, start_version)
      values ('${row}', '${project}', 'a', '{}', '{}', 0.5, '${user}', now() + interval '1 day', 1)`,
    [of("project", project)]
  ],
  // measured every minute, which changes no call
  [`update experiment set looks = looks + 1 where id = '${row}'`, []],
  [`update experiment set state = 'undone', ended_at = now() where id = '${row}'`, [of("project", project)]],
  [`delete from experiment where id = '${row}'`, [of("project", project)]],
  [
    `insert into routing_configuration (id, project_id, slug, name) values ('${row}', '${project}', 'fast', 'Fast')`,
    [of("configurations", project)]
  ],
  [`update routing_configuration set is_active = false where id = '${row}'`, [of("configurations", project)]],
  [`delete from routing_configuration where id = '${row}'`, [of("configurations", project)]],
  [
    `insert into credential (id, project_id, provider, label, masked, sealed)
      values ('${row}', '${project}', 'openai', 'own', '…', '\\x00')`,
    [of("credentials", project)]
  ],
  [`update credential set allowed_models = '{}' where id = '${row}'`, [of("credentials", project)]],
  [`delete from credential where id = '${row}'`, [of("credentials", project)]],
  [
    `insert into capture_window (project_id, config_version, enabled, sampling_rate, retention_days, max_samples, content,
        replay_allowed, content_warning, salt, opened_at)
      values ('${project}', 1, true, 1, 30, 10, 'full', false, 'w', '\\x00', now())`,
    [of("capture", project)]
  ],
  [`update capture_window set closed_at = now() where project_id = '${project}'`, [of("capture", project)]],
  [`delete from capture_window where project_id = '${project}'`, [of("capture", project)]],
  // nobody has it before
  [`insert into capture_project_key (project_id, sealed) values ('${project}', '\\x00')`, []],
  [`delete from capture_project_key where project_id = '${project}'`, [of("capture", project)]],
  [
    `insert into session (id, user_id, token_hash, transport, address, created_at, seen_at, expires_at)
      values ('${row}', '${user}', decode(repeat('00', 32), 'hex'), 'cookie', '', now(), now(), now())`,
    []
  ],
  [`update session set seen_at = now() + interval '1 second' where id = '${row}'`, []],
  [`update session set revoked_at = now() where id = '${row}'`, [of("session", row)]],
  [`delete from session where id = '${row}'`, [of("session", row)]],
  [`update app_user set is_operator = true where id = '${user}'`, [of("user", user)]],
  [
    `insert into quality_snapshot (project_id, version, created_at, rows) values ('${project}', 1, now(), '[]')`,
    [of("quality", project)]
  ],
  [`delete from quality_snapshot where project_id = '${project}'`, [of("quality", project)]]
]

const last = of("chat_turn", row)

describe.each(databases)("rows that nodes cache, on %s", (_, database) => {
  it.scopedLive("announce their changes whoever writes them", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        const heard = yield* Heard
        yield* told(undefined)
        for (const statement of owners.split(";")) yield* sql.unsafe(statement)
        for (const [statement, changes] of writes) {
          yield* sql.unsafe(statement)
          // told in the order of their commits
          yield* sql`select pg_notify('gateway_changes', ${`${last.kind}:${last.id}`})`
          const received: Array<Change | undefined> = []
          yield* Queue.take(heard).pipe(
            Effect.tap((change) => Effect.sync(() => received.push(change))),
            Effect.repeat({ until: (change) => change?.kind === last.kind })
          )
          expect([statement, ...received.filter((change) => change?.kind !== last.kind)]).toEqual([
            statement,
            ...changes
          ])
        }
      }).pipe(Effect.provide(context))
    })
  )
})
