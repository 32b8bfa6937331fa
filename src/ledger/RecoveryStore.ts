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
  /** Writes this process's heartbeat. */
  readonly beat: Effect.Effect<void, SqlError>
  /** Expires the holds of silent processes and those that are too old; returns their number. */
  readonly sweep: (silence: Duration.Duration, maxCallDuration: Duration.Duration) => Effect.Effect<number, SqlError>
  readonly expireAll: Effect.Effect<number, SqlError>
}

/** Heartbeats of all processes, and the holds of those without one. */
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
        sweep: (silence, maxCallDuration) => sweep(sql, node.id, silence, maxCallDuration, marginOf[kind]),
        expireAll: expireAll(sql)
      }
    })
  )
}

/** Holds expired by one statement, so that their scopes are not locked for long. */
const maxPerStatement = 500

/**
 * How old a hold is before it is listed as one that lasts, and can expire: until then it may be written by a transaction that has
 * begun. That is longer than any statement takes; the embedded database has one transaction at a time, and its clock may be set
 * back as far.
 */
const marginOf = { postgres: Duration.seconds(20), embedded: Duration.seconds(5) }

/**
 * Expires every open hold and returns their number; only valid where no other process has the database open. Mostly there is
 * none: to plan the statements that expire takes the embedded database a tenth of a second. After the clock was set back any hold
 * may be open.
 */
export const expireAll = (sql: SqlClient): Effect.Effect<number, SqlError> =>
  sql`update open_holds set since = '-infinity' where since > now()`.pipe(
    Effect.zipRight(sql`select exists (select from open_holds_read()) as "isAnyOpen"`),
    Effect.flatMap(decodeIsAnyOpen),
    Effect.catchTag("ParseError", Effect.die),
    Effect.flatMap(([{ isAnyOpen }]) =>
      isAnyOpen ? expire(sql, null, Duration.zero, Duration.zero, Duration.zero) : Effect.succeed(0)
    )
  )

export const beat = (sql: SqlClient, nodeId: string): Effect.Effect<void, SqlError> =>
  Effect.asVoid(sql`select node_heard(${nodeId}::uuid)`)

/**
 * Expires the holds of processes without a heartbeat, where this one has been heard for as long without a gap, and those that
 * are too old; returns their number.
 */
export const sweep = (
  sql: SqlClient,
  nodeId: string,
  silence: Duration.Duration,
  maxCallDuration: Duration.Duration,
  margin: Duration.Duration = marginOf.postgres
): Effect.Effect<number, SqlError> =>
  Effect.zipLeft(
    expire(sql, nodeId, silence, maxCallDuration, margin),
    sql`select node_forget(${nodeId}::uuid, ${seconds(silence)}::interval)`
  )

const expire = (
  sql: SqlClient,
  nodeId: string | null,
  silence: Duration.Duration,
  maxCallDuration: Duration.Duration,
  margin: Duration.Duration
): Effect.Effect<number, SqlError> =>
  Effect.iterate([0, maxPerStatement] as readonly [total: number, last: number], {
    while: ([, last]) => last === maxPerStatement,
    body: ([total]) =>
      sql`select ledger_expire(${nodeId}::uuid, ${seconds(silence)}::interval, ${seconds(maxCallDuration)}::interval,
        ${maxPerStatement}::int, ${seconds(margin)}::interval) as expired`.pipe(
        Effect.flatMap(decodeExpired),
        Effect.catchTag("ParseError", Effect.die),
        Effect.map(([{ expired }]) => [total + expired, expired] as const)
      )
  }).pipe(Effect.map(([total]) => total))

const decodeIsAnyOpen = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ isAnyOpen: Schema.Boolean })))
const decodeExpired = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ expired: Schema.Int })))

const seconds = (duration: Duration.Duration): string => `${Duration.toSeconds(duration)} seconds`
