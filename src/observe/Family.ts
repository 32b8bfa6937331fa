import * as Metric from "effect/Metric"
import type * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"

/**
 * What a scrape makes of the values that several worker processes have: their sum; the largest, where all of them say the
 * same of something that they share; or each with a label `worker`, where no sum means anything.
 */
export type AcrossWorkers = "sum" | "max" | "worker"

/** A metric with all its label sets. */
export interface Family {
  readonly name: string
  readonly kind: "counter" | "gauge" | "histogram"
  readonly help: string
  readonly labels: ReadonlyArray<string>
  readonly acrossWorkers: AcrossWorkers
}

/** Every family of this process, by name. */
export const families: Map<string, Family> = new Map()

type Values<Labels extends ReadonlyArray<string>> = { readonly [Index in keyof Labels]: string }

/** Adds one, or an amount, to the counter with these label values. */
export type Counter<Labels extends ReadonlyArray<string>> = (values: Values<Labels>, amount?: number) => void
/** Sets the gauge with these label values. */
export type Gauge<Labels extends ReadonlyArray<string>> = (values: Values<Labels>, value: number) => void
/** Counts a value in the histogram with these label values. */
export type Histogram<Labels extends ReadonlyArray<string>> = (values: Values<Labels>, value: number) => void

export const counter = <const Labels extends ReadonlyArray<string> = []>(
  name: string,
  help: string,
  labels: Labels
): Counter<Labels> => {
  declare({ name, kind: "counter", help, labels, acrossWorkers: "sum" })
  const key = MetricKey.counter(name, { description: help, incremental: true })
  const update = updater(labels, (tags) => Metric.fromMetricKey(MetricKey.taggedWithLabels(key, tags)))
  return (values, amount = 1) => update(values, amount)
}

export const gauge = <const Labels extends ReadonlyArray<string> = []>(
  name: string,
  help: string,
  labels: Labels,
  acrossWorkers: AcrossWorkers
): Gauge<Labels> => {
  declare({ name, kind: "gauge", help, labels, acrossWorkers })
  const key = MetricKey.gauge(name, { description: help })
  return updater(labels, (tags) => Metric.fromMetricKey(MetricKey.taggedWithLabels(key, tags)))
}

export const histogram = <const Labels extends ReadonlyArray<string> = []>(
  name: string,
  help: string,
  labels: Labels,
  boundaries: MetricBoundaries.MetricBoundaries
): Histogram<Labels> => {
  declare({ name, kind: "histogram", help, labels, acrossWorkers: "sum" })
  const key = MetricKey.histogram(name, boundaries, help)
  return updater(labels, (tags) => Metric.fromMetricKey(MetricKey.taggedWithLabels(key, tags)))
}

const declare = (family: Family): void => {
  if (families.has(family.name)) throw new Error(`the metric ${family.name} is declared twice`)
  families.set(family.name, family)
}

/** The metrics of a family, by the values of their labels, one map for each label: a joined text would be hashed at each update. */
interface Labelled {
  metric: Updatable | undefined
  readonly next: Map<string, Labelled>
}

const newLabelled = (): Labelled => ({ metric: undefined, next: new Map() })

/**
 * Metrics are updated synchronously: a labelled one is built once, with its labels in its key, so that an update on the hot
 * path is one map lookup a label. (`Metric.tagged` would build the key, and hash it, at every update.)
 */
const updater = <Labels extends ReadonlyArray<string>>(
  labels: Labels,
  metricOf: (tags: ReadonlyArray<MetricLabel.MetricLabel>) => Updatable
): ((values: Values<Labels>, value: number) => void) => {
  const root = newLabelled()
  return (values, value) => {
    let labelled = root
    for (const text of values) {
      let next = labelled.next.get(text)
      if (next === undefined) {
        next = newLabelled()
        labelled.next.set(text, next)
      }
      labelled = next
    }
    labelled.metric ??= metricOf(labels.map((label, index) => MetricLabel.make(label, values[index] ?? "")))
    labelled.metric.unsafeUpdate(value, [])
  }
}

interface Updatable {
  readonly unsafeUpdate: (value: number, tags: ReadonlyArray<MetricLabel.MetricLabel>) => void
}
