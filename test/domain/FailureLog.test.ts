import { SqlError } from "@effect/sql/SqlError"
import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import Pg from "pg"
import { warn } from "../../src/domain/FailureLog.ts"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"

/** The line of a log as the service writes it. */
const lineOf = (cause: Cause.Cause<unknown>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.jsonLogger, (line) => void lines.push(line))
    yield* Effect.provide(warn("rows could not be written", cause), Logger.replace(Logger.defaultLogger, logger))
    expect(lines).toHaveLength(1)
    return JSON.parse(lines[0] ?? "") as { message: string; annotations: Record<string, unknown>; cause?: string }
  })

const rejection = new Pg.DatabaseError('new row for relation "messages" violates check constraint "ended"', 0, "error")
rejection.code = "23514"
rejection.detail = "Failing row contains (what a person has written)."

it.effect("a failure is logged with the message and the code of the innermost cause, without the row it names", () =>
  Effect.gen(function* () {
    const error = new StoreUnavailable({ cause: new SqlError({ cause: rejection, message: "Failed to execute" }) })
    const line = yield* lineOf(Cause.fail(error))
    expect(line.message).toBe("rows could not be written")
    expect(line.annotations).toEqual({ reason: `${rejection.message} (23514)` })
    expect(JSON.stringify(line)).not.toContain("what a person has written")
  })
)

it.effect.each([
  [new Error("connect ECONNREFUSED 127.0.0.1:5432"), "connect ECONNREFUSED 127.0.0.1:5432"],
  [
    Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" }),
    "connect ECONNREFUSED 127.0.0.1:5432"
  ],
  [new AggregateError([new Error("first address"), new Error("second")]), "first address"],
  ["a text", "a text"],
  [{ row: "what a person has written" }, "for no stated reason"]
] as const)("the reason of %s is %s", ([error, reason]) =>
  Effect.gen(function* () {
    expect((yield* lineOf(Cause.fail(error))).annotations).toEqual({ reason })
  })
)

it.effect("a defect is logged with its stack, without the row it names", () =>
  Effect.gen(function* () {
    const line = yield* lineOf(Cause.die(rejection))
    expect(line.cause).toContain(rejection.message)
    expect(line.cause).toContain("FailureLog.test.ts")
    expect(JSON.stringify(line)).not.toContain("what a person has written")
  })
)
