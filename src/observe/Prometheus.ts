import * as Metric from "effect/Metric"
import type * as MetricKey from "effect/MetricKey"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"

/** Every metric of this process in the Prometheus text format, version 0.0.4. */
export const render = (): string => {
  const families = new Map<string, { readonly head: string; readonly lines: Array<string> }>()
  for (const { metricKey, metricState } of Metric.unsafeSnapshot()) {
    const name = metricKey.name.replaceAll(/[^a-zA-Z0-9_:]/g, "_")
    const kind = kindOf(metricState)
    if (kind === undefined) continue
    let family = families.get(name)
    if (family === undefined) {
      const help = Option.getOrElse(metricKey.description, () => "")
        .replaceAll("\\", "\\\\")
        .replaceAll("\n", "\\n")
      family = { head: `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`, lines: [] }
      families.set(name, family)
    }
    family.lines.push(...linesOf(name, metricKey, metricState))
  }
  return [...families.keys()]
    .sort()
    .map((name) => {
      const family = families.get(name)
      return family === undefined ? "" : family.head + family.lines.sort().join("")
    })
    .join("")
}

const kindOf = (state: MetricState.MetricState.Untyped): "counter" | "gauge" | "histogram" | undefined => {
  if (MetricState.isCounterState(state)) return "counter"
  if (MetricState.isGaugeState(state)) return "gauge"
  if (MetricState.isHistogramState(state)) return "histogram"
  return undefined
}

const linesOf = (
  name: string,
  key: MetricKey.MetricKey<MetricKeyType.MetricKeyType.Untyped>,
  state: MetricState.MetricState.Untyped
): ReadonlyArray<string> => {
  const labels = key.tags.map((tag) => `${tag.key}="${escaped(tag.value)}"`)
  if (MetricState.isCounterState(state)) return [`${name}${braced(labels)} ${state.count}\n`]
  if (MetricState.isGaugeState(state)) return [`${name}${braced(labels)} ${state.value}\n`]
  if (!MetricState.isHistogramState(state)) return []
  return [
    ...state.buckets.map(([boundary, count]) => {
      const le = boundary === Number.MAX_VALUE || boundary === Number.POSITIVE_INFINITY ? "+Inf" : String(boundary)
      return `${name}_bucket${braced([...labels, `le="${le}"`])} ${count}\n`
    }),
    `${name}_sum${braced(labels)} ${state.sum}\n`,
    `${name}_count${braced(labels)} ${state.count}\n`
  ]
}

const braced = (labels: ReadonlyArray<string>): string => (labels.length === 0 ? "" : `{${labels.join(",")}}`)

const escaped = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
