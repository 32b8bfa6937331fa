import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import Pg from "pg"

/**
 * A statement that is sent so often that the way to it counts: straight to the driver, its plan kept by each connection.
 * Interrupted or unanswered for too long, it costs its connection, which might answer late.
 */
export type Prepared = (parameters: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<object>, SqlError>

export interface PreparedOptions {
  /** Among the statements of one database; without one no plan is kept, for sessions that connections share. */
  readonly name: string | undefined
  readonly text: string
  /** How long an answer may take; beyond what the server itself allows a statement. */
  readonly answerMillis: number
}

export const prepare =
  (pool: Pg.Pool, { answerMillis, name, text }: PreparedOptions): Prepared =>
  (parameters) =>
    Effect.async((resume) => {
      let isAbandoned = false
      let abandon: () => void = () => {
        isAbandoned = true
      }
      pool.connect((error, client, release) => {
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
          ...(name !== undefined && { name }),
          text,
          values: [...parameters],
          query_timeout: answerMillis
        }
        client.query(query, (cause: Error | null, result: Pg.QueryResult<object>) => {
          if (!over(cause !== null && !isRefusal(cause))) return
          resume(cause ? failed("Failed to execute statement", cause) : Effect.succeed(result.rows))
        })
      })
      return Effect.sync(() => abandon())
    })

/** The server has refused the statement and goes on; any other failure leaves the connection in doubt. */
const isRefusal = (cause: Error): boolean => cause instanceof Pg.DatabaseError && cause.severity === "ERROR"

const failed = (message: string, cause: unknown) => Effect.fail(new SqlError({ cause, message }))
