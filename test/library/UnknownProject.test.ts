import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { Caller, Gateway, makeRequest, ProductionLayer } from "../../src/index.ts"
import { testCaller } from "../../src/testing/doubles/TestGateway.ts"

it.scopedLive.each(["auto", "sim/fast"])(
  "a call of %s for a project that is in no table says so in the log",
  (model) => {
    const warnings: Array<readonly [level: string, message: string, project: unknown]> = []
    const logger = Logger.make(({ annotations, logLevel, message }) => {
      warnings.push([logLevel.label, String(message), Option.getOrUndefined(HashMap.get(annotations, "projectId"))])
    })
    return Effect.gen(function* () {
      const request = yield* makeRequest({ model, messages: [{ role: "user", content: "Hi." }] })
      const gateway = yield* Gateway
      const failed = Effect.flip(gateway.complete(request))
      expect((yield* failed)._tag).toMatch(/^(?:ModelNotFound|NoEligibleModel)$/)
      // a program that goes on calling does not fill the log
      yield* failed
      expect(warnings).toEqual([
        [
          "WARN",
          "a call of a project that is not in the database finds no model: the project was deleted while its keys were remembered, for seconds, or the application around the gateway has not made it with `Projects.create`",
          testCaller.projectId
        ]
      ])
    }).pipe(
      Effect.provideService(Caller, testCaller),
      Effect.provide(ProductionLayer({ database: { directory: ":memory:" }, providers: { simulated: true } })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  }
)
