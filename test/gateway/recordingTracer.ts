import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

interface RecordedSpan {
  readonly name: string
  readonly parent: string
  readonly attributes: Map<string, unknown>
  /** `undefined` while it is open. */
  readonly millis: () => number | undefined
  /** The tag of the error that it ended with, `interrupted`, or `undefined`. */
  readonly failure: () => string | undefined
}

type Method = "start" | "attribute" | "event" | "end"

/** A tracer of the application that keeps its spans' names, parents, attributes and ends; `onCall` is told of each call, and may throw. */
export const recordingTracer = (onCall: (method: Method, span: string) => void = () => {}) => {
  const spans: Array<RecordedSpan> = []
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      onCall("start", name)
      const attributes = new Map<string, unknown>()
      const parentName = Option.match(parent, {
        onNone: () => "-",
        onSome: (span) => ("name" in span ? span.name : "-")
      })
      let ended: { readonly time: bigint; readonly exit: Exit.Exit<unknown, unknown> } | undefined
      spans.push({
        name,
        parent: parentName,
        attributes,
        millis: () => (ended === undefined ? undefined : Number((ended.time - startTime) / 1_000_000n)),
        failure: () => (ended === undefined || Exit.isSuccess(ended.exit) ? undefined : failureOf(ended.exit.cause))
      })
      return {
        _tag: "Span",
        name,
        spanId: String(spans.length),
        traceId: "trace",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: (time, exit) => {
          onCall("end", name)
          ended = { time, exit }
        },
        attribute: (key, value) => {
          onCall("attribute", name)
          attributes.set(key, value)
        },
        event: () => onCall("event", name),
        addLinks: () => {}
      }
    },
    context: (f) => f()
  })
  return { spans, tracer }
}

const failureOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.isInterruptedOnly(cause)) return "interrupted"
  const error = Cause.squash(cause)
  return error instanceof Error ? error.name : String(error)
}
