import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import { logStart } from "../../src/app/StartLog.ts"
import { type Given, settingsGiven } from "../config/Load.ts"

it.effect("the log of a start names the file that its settings come from, and a secret only as set", () =>
  Effect.gen(function* () {
    const token = "secret-metrics-token"
    const lines = yield* logged({ env: { METRICS_TOKEN: token }, file: {} }, { GATEWAY_CONFIG: "gateway.json" })
    expect(lines).toMatchObject([{ GATEWAY_CONFIG: "gateway.json", METRICS_TOKEN: "set" }])
    expect(JSON.stringify(lines)).not.toContain(token)
    expect(yield* logged({}, { GATEWAY_CONFIG: "" })).toMatchObject([{ GATEWAY_CONFIG: null }])
  })
)

/** The `settings` of each line. */
const logged = Effect.fnUntraced(function* (given: Given, variables: Readonly<Record<string, string>>) {
  const lines: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ annotations }) => {
    lines.push(HashMap.unsafeGet(annotations, "settings"))
  })
  yield* Effect.provide(
    logStart(yield* settingsGiven(given), variables, "embedded", 8080),
    Logger.replace(Logger.defaultLogger, logger)
  )
  return lines
})
