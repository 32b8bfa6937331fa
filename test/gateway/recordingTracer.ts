import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** A tracer of the application that keeps its spans' names, parents and attributes. */
export const recordingTracer = () => {
  const spans: Array<{ readonly name: string; readonly parent: string; readonly attributes: Map<string, unknown> }> = []
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      const parentName = Option.match(parent, {
        onNone: () => "-",
        onSome: (span) => ("name" in span ? span.name : "-")
      })
      spans.push({ name, parent: parentName, attributes })
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
        end: () => {},
        attribute: (key, value) => attributes.set(key, value),
        event: () => {},
        addLinks: () => {}
      }
    },
    context: (f) => f()
  })
  return { spans, tracer }
}
