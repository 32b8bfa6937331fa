import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ParseError } from "effect/ParseResult"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import { reasonOf, sqlStateOf } from "./DatabaseError.ts"
import { FailedStatements } from "./FailedStatements.ts"

/** The errors of a statement after `fromSql`. */
export type Translated<E> = Exclude<E, SqlError | ParseError> | StoreUnavailable

/** The statement has reached the database, and would be refused again: a data exception, or a check or not-null constraint. */
const refusedValue = /^(?:22...|23514|23502)$/

/**
 * Maps errors of the driver to `StoreUnavailable`, and logs them. A row that does not fit its schema is a broken invariant, and so is a value that
 * its column does not take.
 */
export const fromSql = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, Translated<E>, R> =>
  Effect.catchAll(withFailedCommits(statement), (error): Effect.Effect<never, Translated<E>> => {
    if (error instanceof ParseError) return Effect.dieMessage(`a row does not fit its schema: ${error.message}`)
    if (error instanceof SqlError && refusedValue.test(sqlStateOf(error) ?? "")) {
      return Effect.dieMessage(`a value that the database does not take: ${reasonOf(error)}`)
    }
    if (error instanceof SqlError) {
      const unavailable = Effect.fail(new StoreUnavailable({ cause: error }))
      return Effect.flatMap(FailedStatements, ({ log }) => Effect.zipRight(log(error), unavailable))
    }
    return Effect.fail(error as Exclude<E, SqlError | ParseError>)
  })

/** The driver reports the commit of a transaction that fails as a defect. */
const withFailedCommits = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchSomeDefect(statement, (defect) =>
    defect instanceof SqlError ? Option.some(Effect.fail(defect)) : Option.none()
  )
