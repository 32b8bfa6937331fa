import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { ofCommand, report } from "../../src/app/Report.ts"
import { DatabaseFailed, DirectoryInUse, postgresName } from "../../src/sql/DatabaseError.ts"

const cause = new Error("it is away")
const directory = "the data directory .data is in use by another process; stop it, or set DATA_DIR or DATABASE_URL"

it.effect.each([
  [new DirectoryInUse({ directory: ".data" }), directory],
  [new DatabaseFailed({ database: postgresName, cause }), `${postgresName} of DATABASE_URL failed: it is away`],
  [new DatabaseFailed({ database: ".data", cause }), ".data of DATA_DIR failed: it is away"]
] as const)("an operator is told the variables to change: %s", ([failure, told]) =>
  Effect.gen(function* () {
    const printed: Array<unknown> = []
    const own = yield* Effect.console
    const recording: Console.Console = { ...own, error: (line) => Effect.sync(() => void printed.push(line)) }
    yield* Console.withConsole(report(Cause.fail(failure)), recording)
    expect(printed).toEqual([`The gateway stopped: ${told}`])
    expect(ofCommand(failure)).toMatchObject({ message: told })
  })
)
