import * as Metric from "effect/Metric"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"
import { collectAll } from "./Collection.ts"
import { type AcrossWorkers, type Family, families } from "./Family.ts"

/** Label names and values, in order. */
export type Labels = ReadonlyArray<readonly [name: string, value: string]>

export type Sample =
  | { readonly labels: Labels; readonly value: number }
  | {
      readonly labels: Labels
      /** Upper bound and how many values are at most that; without the last, whose bound is infinite. */
      readonly buckets: ReadonlyArray<readonly [bound: number, count: number]>
      readonly count: number
      readonly sum: number
    }

/** A family with its samples, as plain data: it can be sent to another process. */
export interface ExposedFamily extends Pick<Family, "name" | "kind" | "help" | "acrossWorkers"> {
  readonly samples: ReadonlyArray<Sample>
}

export type Exposition = ReadonlyArray<ExposedFamily>

/** Every metric of this process that has a value. Those of Effect's runtime itself have no description and are left out. */
export const snapshot = (): Exposition => {
  collectAll()
  const exposed = new Map<string, Omit<ExposedFamily, "samples"> & { readonly samples: Array<Sample> }>()
  for (const { metricKey, metricState } of Metric.unsafeSnapshot()) {
    const name = metricKey.name.replaceAll(/[^a-zA-Z0-9_:]/g, "_")
    const kind = kindOf(metricState)
    const help = Option.getOrElse(metricKey.description, () => "")
    if (kind === undefined || help === "") continue
    let family = exposed.get(name)
    if (family === undefined) {
      const acrossWorkers: AcrossWorkers = families.get(name)?.acrossWorkers ?? (kind === "gauge" ? "worker" : "sum")
      family = { name, kind, help, acrossWorkers, samples: [] }
      exposed.set(name, family)
    }
    const sample = sampleOf(
      metricKey.tags.map(({ key, value }) => [key, value] as const),
      metricState
    )
    if (sample !== undefined) family.samples.push(sample)
  }
  return [...exposed.values()]
}

const kindOf = (state: MetricState.MetricState.Untyped): Family["kind"] | undefined => {
  if (MetricState.isCounterState(state)) return "counter"
  if (MetricState.isGaugeState(state)) return "gauge"
  if (MetricState.isHistogramState(state)) return "histogram"
  return undefined
}

const sampleOf = (labels: Labels, state: MetricState.MetricState.Untyped): Sample | undefined => {
  if (MetricState.isCounterState(state)) return { labels, value: Number(state.count) }
  if (MetricState.isGaugeState(state)) return { labels, value: Number(state.value) }
  if (!MetricState.isHistogramState(state)) return undefined
  const buckets = [...state.buckets].filter(([bound]) => bound < Number.MAX_VALUE)
  return { labels, buckets, count: state.count, sum: state.sum }
}

/** What one worker process exposes. */
export interface WorkerExposition {
  /** Stays the same when a worker is replaced. */
  readonly worker: string
  readonly families: Exposition
}

/** The values of several processes as one exposition. */
export const merge = (workers: ReadonlyArray<WorkerExposition>): Exposition => {
  const merged = new Map<string, { readonly family: ExposedFamily; readonly samples: Map<string, Sample> }>()
  for (const { families: exposed, worker } of workers) {
    for (const family of exposed) {
      const known = merged.get(family.name) ?? { family, samples: new Map<string, Sample>() }
      merged.set(family.name, known)
      for (const sample of family.samples) {
        const own =
          family.acrossWorkers === "worker"
            ? { ...sample, labels: [...sample.labels, ["worker", worker] as const] }
            : sample
        const key = JSON.stringify(own.labels)
        const other = known.samples.get(key)
        known.samples.set(key, other === undefined ? own : joined(other, own, family.acrossWorkers))
      }
    }
  }
  return [...merged.values()].map(({ family, samples }) => ({ ...family, samples: [...samples.values()] }))
}

const joined = (one: Sample, other: Sample, acrossWorkers: AcrossWorkers): Sample => {
  if ("value" in one && "value" in other) {
    return { ...one, value: acrossWorkers === "max" ? Math.max(one.value, other.value) : one.value + other.value }
  }
  if ("value" in one || "value" in other) return one
  const counts = new Map(other.buckets)
  return {
    labels: one.labels,
    buckets: one.buckets.map(([bound, count]) => [bound, count + (counts.get(bound) ?? 0)] as const),
    count: one.count + other.count,
    sum: one.sum + other.sum
  }
}
