import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { ParseError } from "effect/ParseResult"
import { StoreUnavailable } from "../domain/GatewayError.ts"

/** The border between the driver's errors and ours. A row that its own schema refuses is a broken invariant. */
export const unavailable = <A, E, R>(
  statement: Effect.Effect<A, E | SqlError | ParseError, R>
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.catchAll(statement, (error): Effect.Effect<never, E | StoreUnavailable> => {
    if (error instanceof ParseError) return Effect.dieMessage(`a row does not fit its schema: ${error.message}`)
    return Effect.fail(error instanceof SqlError ? new StoreUnavailable({ cause: error }) : error)
  })
