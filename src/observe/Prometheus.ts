import type { ExposedFamily, Exposition, Labels, Sample } from "./Exposition.ts"

/** An exposition in the Prometheus text format, version 0.0.4. */
export const render = (exposition: Exposition): string =>
  [...exposition]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((family) => headOf(family) + linesOf(family))
    .join("")

const headOf = ({ help, kind, name }: ExposedFamily): string =>
  `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${kind}\n`

/** Ordered by labels, the buckets of each histogram by their bounds. */
const linesOf = ({ name, samples }: ExposedFamily): string =>
  samples
    .map((sample) => ({ sample, order: braced(sample.labels) }))
    .sort((one, other) => (one.order < other.order ? -1 : 1))
    .map(({ sample }) => textOf(name, sample))
    .join("")

const textOf = (name: string, sample: Sample): string => {
  const { labels } = sample
  if ("value" in sample) return `${name}${braced(labels)} ${sample.value}\n`
  const bucket = (bound: string, count: number): string =>
    `${name}_bucket${braced([...labels, ["le", bound]])} ${count}\n`
  return [
    ...[...sample.buckets].sort(([one], [other]) => one - other).map(([bound, count]) => bucket(String(bound), count)),
    bucket("+Inf", sample.count),
    `${name}_sum${braced(labels)} ${sample.sum}\n`,
    `${name}_count${braced(labels)} ${sample.count}\n`
  ].join("")
}

const braced = (labels: Labels): string =>
  labels.length === 0 ? "" : `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`

const escaped = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
