import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as Spans from "../../src/observe/Spans.ts"

const spanInside = Spans.whenTraced((isTraced) =>
  Spans.span(isTraced, "outer", Spans.noAttributes, Effect.option(Effect.orDie(Effect.currentSpan)))
)

it.effect("without a tracer of the application no span is open", () =>
  Effect.gen(function* () {
    const isTraced = yield* Spans.whenTraced(Effect.succeed)
    expect(isTraced).toBe(false)
    const open = yield* Spans.span(false, "outer", Spans.noAttributes, Effect.option(Effect.currentSpan))
    expect(Option.isNone(open)).toBe(true)
  })
)

it.effect("with a tracer of the application the effect runs inside the span", () =>
  Effect.gen(function* () {
    const native = yield* Effect.tracer
    const own = Tracer.make({ span: native.span, context: native.context })
    const open = yield* Effect.withTracer(spanInside, own)
    expect(Option.getOrThrow(open).name).toBe("outer")
  })
)
