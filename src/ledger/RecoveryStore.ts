import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Database } from "../sql/Database.ts"
import { LedgerNode } from "./LedgerNodeStore.ts"

export interface RecoveryStoreShape {
  /** No other process can have the database open. */
  readonly isAlone: boolean
  /** Says that this process lives. */
  readonly beat: Effect.Effect<void, SqlError>
  readonly sweep: (silence: Duration.Duration, longestCall: Duration.Duration) => Effect.Effect<number, SqlError>
  readonly expireAll: Effect.Effect<number, SqlError>
}

/** Signs of life of all processes, and the holds of those that give none. */
export class RecoveryStore extends Context.Tag("gateway/ledger/RecoveryStore")<RecoveryStore, RecoveryStoreShape>() {
  static readonly layer: Layer.Layer<RecoveryStore, never, SqlClient | Database | LedgerNode> = Layer.effect(
    this,
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const node = yield* LedgerNode
      const { kind } = yield* Database
      return {
        isAlone: kind === "embedded",
        beat: beat(sql, node.id),
        sweep: (silence, longestCall) => sweep(sql, silence, longestCall),
        expireAll: expireAll(sql)
      }
    })
  )
}

/** Holds ended by one statement, so that their scopes are not locked for long. */
const mostAtOnce = 500

/** Ends every open hold; right only where no other process has the database open. Returns how many there were. */
export const expireAll = (sql: SqlClient): Effect.Effect<number, SqlError> => expire(sql, Duration.zero, Duration.zero)

/** Ends the holds of silent processes and those that are too old; returns how many. */
export const sweep = (
  sql: SqlClient,
  silence: Duration.Duration,
  longestCall: Duration.Duration
): Effect.Effect<number, SqlError> =>
  Effect.zipLeft(
    expire(sql, silence, longestCall),
    sql`delete from node n where n.seen_at <= now() - ${seconds(silence)}::interval
      and not exists (select from hold h where h.node = n.id and h.closed_at is null)`
  )

export const beat = (sql: SqlClient, nodeId: string): Effect.Effect<void, SqlError> =>
  sql`insert into node (id) values (${nodeId}) on conflict (id) do update set seen_at = now()`.pipe(Effect.asVoid)

const expire = (
  sql: SqlClient,
  silence: Duration.Duration,
  longestCall: Duration.Duration
): Effect.Effect<number, SqlError> =>
  Effect.iterate([0, mostAtOnce] as readonly [total: number, last: number], {
    while: ([, last]) => last === mostAtOnce,
    body: ([total]) =>
      sql`select ledger_expire(${seconds(silence)}::interval, ${seconds(longestCall)}::interval, ${mostAtOnce}) as expired`.pipe(
        Effect.flatMap(decodeExpired),
        Effect.catchTag("ParseError", Effect.die),
        Effect.map(([{ expired }]) => [total + expired, expired] as const)
      )
  }).pipe(Effect.map(([total]) => total))

const decodeExpired = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ expired: Schema.Int })))

const seconds = (duration: Duration.Duration): string => `${Duration.toSeconds(duration)} seconds`
