import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { Gateway, makeModel, makeProvider, makeRequest, SimpleLayer } from "../../src/index.ts"

it.scoped.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "a credit of %d is refused where the Layer is built, not at each call",
  (creditMicroUsd) =>
    Effect.gen(function* () {
      const { issues } = yield* Effect.flip(Layer.build(SimpleLayer({ creditMicroUsd })))
      expect(issues).toEqual([{ path: "creditMicroUsd", message: "must be a whole number of micro-USD, at least 0" }])
    })
)

it.effect("a model whose vendor has no credential says so, and no variable of the service", () =>
  Effect.gen(function* () {
    const request = yield* makeRequest({ model: "openai/gpt-5", messages: [{ role: "user", content: "Hi." }] })
    const { message } = yield* Effect.flip((yield* Gateway).complete(request))
    expect(message).toBe("The model 'openai/gpt-5' requires a credential of openai, which this gateway does not have.")
  }).pipe(Effect.provide(SimpleLayer()))
)

it.effect.each([
  [
    "an error is one line with its name",
    Stream.fail(new RangeError("secret")),
    [{ message: "attempt failed", provider: "mine", reason: "Failed", detail: "RangeError", cause: "" }]
  ],
  [
    "a defect is logged whole, too",
    Stream.suspend(() => (undefined as unknown as Stream.Stream<never>[]).map((one) => one)[0] ?? Stream.empty),
    [
      {
        message: "a provider of the application ended in a defect",
        provider: "mine",
        cause: expect.stringContaining("TypeError: Cannot read properties of undefined (reading 'map')")
      },
      { message: "attempt failed", provider: "mine", reason: "Failed", detail: "TypeError", cause: "" }
    ]
  ]
] as const)("of a provider of the application %s", ([, stream, expected]) => {
  const lines: Array<Record<string, unknown>> = []
  const logger = Logger.make(({ annotations, cause, message }) => {
    lines.push({
      message: Array.isArray(message) ? message[0] : message,
      cause: Cause.isEmpty(cause) ? "" : Cause.pretty(cause),
      ...Object.fromEntries(HashMap.toEntries(annotations))
    })
  })
  const model = makeModel({ id: "mine/a", prices: { input: 0, output: 0 }, contextTokens: 1_000, outputTokens: 100 })
  return Effect.gen(function* () {
    const request = yield* makeRequest({ model: "mine/a", messages: [{ role: "user", content: "Hi." }] })
    const { _tag } = yield* Effect.flip((yield* Gateway).complete(request))
    expect(_tag).toBe("ProvidersFailed")
    expect(lines).toMatchObject(expected)
    expect(lines).toHaveLength(expected.length)
  }).pipe(
    Effect.provide(SimpleLayer({ providers: [{ provider: makeProvider("mine", () => stream), models: [model] }] })),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  )
})
