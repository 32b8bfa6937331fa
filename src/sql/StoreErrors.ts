import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { ParseError } from "effect/ParseResult"
import { StoreUnavailable } from "../domain/GatewayError.ts"

/** The errors of a statement after `fromSql`. */
export type Translated<E> = Exclude<E, SqlError | ParseError> | StoreUnavailable

/** Maps errors of the driver to `StoreUnavailable`. A row that does not fit its schema is a broken invariant. */
export const fromSql = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, Translated<E>, R> =>
  Effect.catchAll(statement, (error): Effect.Effect<never, Translated<E>> => {
    if (error instanceof ParseError) return Effect.dieMessage(`a row does not fit its schema: ${error.message}`)
    if (error instanceof SqlError) return Effect.fail(new StoreUnavailable({ cause: error }))
    return Effect.fail(error as Exclude<E, SqlError | ParseError>)
  })
