import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { CallObserver, EndedAttempt, ObservedCall } from "../domain/CallObserver.ts"
import type { Model } from "../domain/Model.ts"
import type { TimersShape } from "../domain/Timers.ts"
import { completionTokens, promptTokens } from "../domain/Usage.ts"
import { isTraced } from "./Spans.ts"

/** What is traced of a call that is running. */
interface TracedCall {
  readonly tracer: Tracer.Tracer
  readonly parent: Option.Option<Tracer.AnySpan>
  attempts: number
  attempt: Tracer.Span | undefined
}

export interface CallSpans {
  readonly observer: CallObserver
  /** The span of the attempt that is running, with the tracer that it belongs to; `undefined` where nothing is traced. */
  readonly current: (call: ObservedCall) => AttemptSpan | undefined
}

export interface AttemptSpan {
  readonly tracer: Tracer.Tracer
  readonly span: Tracer.AnySpan
}

/**
 * One span for each attempt, from its start to the end of its response, with the attributes of OpenTelemetry's conventions for
 * generative AI. The tracer is the current one where the call was made; with Effect's own, which exports nothing, there are none.
 */
export const make = (timers: TimersShape): CallSpans => {
  const traced = new WeakMap<ObservedCall, TracedCall>()
  const nanos = (): bigint => BigInt(Math.round(timers.now() * 1_000)) * 1_000n

  const observer: CallObserver = {
    admitted: (call) => {
      const fiber = Option.getOrUndefined(Fiber.getCurrentFiber())
      if (fiber === undefined || !isTraced(fiber)) return
      const parent = Option.fromNullable(fiber.currentSpan)
      traced.set(call, { tracer: fiber.currentTracer, parent, attempts: 0, attempt: undefined })
    },
    attemptStarted: (call, model) => {
      const state = traced.get(call)
      if (state === undefined) return
      state.attempts += 1
      const name = `chat ${model.upstreamModel}`
      const span = state.tracer.span(name, state.parent, Context.empty(), [], nanos(), "client")
      state.attempt = span
      annotate(span, requestAttributes(call, model))
      span.attribute("gateway.attempt", state.attempts)
    },
    attemptEnded: (call, ended) => {
      const state = traced.get(call)
      const span = state?.attempt
      if (state === undefined || span === undefined) return
      state.attempt = undefined
      annotate(span, responseAttributes(ended))
      span.end(nanos(), exitOf(ended))
    }
  }
  return {
    observer,
    current: (call) => {
      const state = traced.get(call)
      return state?.attempt === undefined ? undefined : { tracer: state.tracer, span: state.attempt }
    }
  }
}

type Attributes = Readonly<Record<string, string | number | ReadonlyArray<string> | null | undefined>>

/** What is not known is left out. */
const annotate = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) span.attribute(name, value)
  }
}

const requestAttributes = ({ request, requestId }: ObservedCall, model: Model): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": conventionalNames[model.providerId] ?? model.providerId,
  "gen_ai.request.model": model.upstreamModel,
  "gen_ai.request.max_tokens": numberOf(request.maxOutputTokens),
  "gen_ai.request.temperature": request.temperature,
  "gen_ai.request.top_p": request.topP,
  "gen_ai.request.frequency_penalty": request.frequencyPenalty,
  "gen_ai.request.presence_penalty": request.presencePenalty,
  "gen_ai.request.seed": numberOf(request.seed),
  "gen_ai.request.stop_sequences": request.stop.length === 0 ? undefined : request.stop,
  "gateway.request_id": requestId,
  "gateway.model": model.id
})

const responseAttributes = ({ error, finishReason, firstContentMillis, record, servedModel, usage }: EndedAttempt) => ({
  "gen_ai.response.model": servedModel,
  "gen_ai.response.finish_reasons": finishReason === null ? undefined : [finishReason],
  ...(usage !== null && {
    "gen_ai.usage.input_tokens": promptTokens(usage),
    "gen_ai.usage.output_tokens": completionTokens(usage),
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens
  }),
  "gateway.status": record.status,
  "gateway.cost_microusd": record.cost.amount_microusd,
  "gateway.first_content_ms": firstContentMillis,
  "error.type": error === null ? record.error?.code : error.facts.code
})

const exitOf = ({ error, record }: EndedAttempt): Exit.Exit<unknown, unknown> => {
  if (error !== null) return Exit.fail(error)
  if (record.status === "cancelled") return Exit.interrupt(FiberId.none)
  return record.error === null ? Exit.void : Exit.fail(record.error)
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Where the conventions have a name of their own for a built-in provider. */
const conventionalNames: Readonly<Record<string, string>> = {
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  mistral: "mistral_ai",
  xai: "x_ai"
}
