import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Database } from "../sql/Database.ts"
import { LedgerNode } from "./LedgerNode.ts"

export interface RecoveryOptions {
  /** How often this process says that it lives, and looks for others that do not. */
  readonly interval?: Duration.DurationInput
  /** A process that has said nothing for so long is taken for dead. */
  readonly silence?: Duration.DurationInput
  /** No call lasts so long: an older hold was lost, even if its process lives. */
  readonly longestCall?: Duration.DurationInput
}

const defaultInterval = Duration.seconds(5)
const defaultSilence = Duration.seconds(60)
const defaultLongestCall = Duration.hours(1)
/** Holds ended by one statement, so that their scopes are not locked for long. */
const mostAtOnce = 500

/**
 * Ends the holds of processes that are gone: the customer pays nothing. Only the database's clock decides. The embedded
 * database is open in this process alone, so there every hold found at the start is such a one.
 */
export const layer = (options: RecoveryOptions = {}): Layer.Layer<never, SqlError, SqlClient | Database | LedgerNode> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const node = yield* LedgerNode
      const { kind } = yield* Database
      if (kind === "embedded") yield* expireAll(sql)
      const silence = Duration.decode(options.silence ?? defaultSilence)
      const longestCall = Duration.decode(options.longestCall ?? defaultLongestCall)
      const round = beat(sql, node.id).pipe(Effect.zipRight(sweep(sql, silence, longestCall)))
      yield* round.pipe(
        Effect.catchAllCause((cause) =>
          Effect.logWarning("the ledger's recovery could not run; it tries again", cause)
        ),
        Effect.repeat(Schedule.spaced(options.interval ?? defaultInterval)),
        Effect.forkScoped
      )
    })
  )

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
      and not exists (select from hold h where h.node = n.id and h.state = 'held')`
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
