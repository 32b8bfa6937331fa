import * as HttpClient from "@effect/platform/HttpClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as Telemetry from "../../src/app/Telemetry.ts"
import { logTo } from "../support/LogLines.ts"

it.scoped("an export that a collector does not answer is given up and logged: none is kept for minutes", () =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const log = logTo(lines)
    let waiting = 0
    const silent = HttpClient.make(() =>
      Effect.acquireUseRelease(
        Effect.sync(() => waiting++),
        () => Effect.never,
        () => Effect.sync(() => waiting--)
      )
    )
    const options = { endpoint: "http://127.0.0.1:1", headers: [], serviceName: "gateway", instanceId: "one" }
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(
      Telemetry.layer(options).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, silent)), Layer.provide(log)),
      scope
    )
    // the end waits on the clock for what is left
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(Effect.fork(Scope.close(scope, Exit.void)), TestClock.adjust("10 seconds"))
    )
    yield* TestClock.adjust("6 seconds")
    expect(waiting).toBe(1)
    yield* TestClock.adjust("10 seconds")
    expect(lines.filter((line) => line.includes("telemetry is not exported"))).toHaveLength(1)
    expect(lines.join()).toContain("no response within 10 seconds")
    // after its retries nothing is exported for a minute
    yield* TestClock.adjust("40 seconds")
    expect(waiting).toBe(0)
  })
)
