import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import Pg from "pg"
import * as LedgerMetrics from "../observe/LedgerMetrics.ts"

/**
 * A statement of the hot path: sent directly to the driver, prepared once per connection. When it is interrupted or times
 * out, its connection is closed, since a late response would be taken for that of the next statement.
 */
export type PreparedStatement = (parameters: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<object>, SqlError>

export interface PreparedOptions {
  /** Unique in the database. */
  readonly name: string
  readonly text: string
  /** Above the server's own statement timeout. */
  readonly timeoutMillis: number
}

export const prepare =
  (pool: Pg.Pool, { timeoutMillis, name, text }: PreparedOptions): PreparedStatement =>
  (parameters) =>
    Effect.async((resume) => {
      let isAbandoned = false
      let abandon: () => void = () => {
        isAbandoned = true
      }
      const askedAtMillis = performance.now()
      pool.connect((error, client, release) => {
        LedgerMetrics.connectionWaitSeconds((performance.now() - askedAtMillis) / 1_000)
        if (client === undefined) return resume(failed("Failed to acquire connection", error))
        if (isAbandoned) return release()
        let isOver = false
        const over = (broken: boolean): boolean => {
          if (isOver) return false
          isOver = true
          client.off("error", onError)
          release(broken)
          return true
        }
        const onError = (cause: Error): void => {
          if (over(true)) resume(failed("Connection error", cause))
        }
        abandon = () => over(true)
        client.once("error", onError)
        const query: Pg.QueryConfig & { readonly query_timeout: number } = {
          // no optional member: the driver copies this, and V8 would give every copy a hidden class of its own
          name,
          text,
          values: [...parameters],
          query_timeout: timeoutMillis
        }
        client.query(query, (cause: Error | null, result: Pg.QueryResult<object>) => {
          if (!over(cause !== null && !isRejection(cause))) return
          resume(cause ? failed("Failed to execute statement", cause) : Effect.succeed(result.rows))
        })
      })
      return Effect.sync(() => abandon())
    })

/** The server rejected the statement, and the connection is usable; after any other failure its state is unknown. */
const isRejection = (cause: Error): boolean => cause instanceof Pg.DatabaseError && cause.severity === "ERROR"

const failed = (message: string, cause: unknown) => Effect.fail(new SqlError({ cause, message }))
