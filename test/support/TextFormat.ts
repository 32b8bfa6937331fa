/**
 * The rules of the Prometheus text format, version 0.0.4, and of `promtool check metrics`; a complaint for each line that
 * breaks one.
 */
export const complaintsOf = (page: string): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const seen = new Set<string>()
  let family = { name: "", kind: "", help: false }
  const samples = new Set<string>()
  const bounds = new Map<string, { bound: number; count: number }>()
  if (!page.endsWith("\n")) complaints.push("the page does not end with a line feed")
  for (const line of page.split("\n").slice(0, -1)) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/.exec(line)
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (help !== null) {
      const [, name = "", text = ""] = help
      if (seen.has(name)) complaints.push(`${name}: a second family`)
      if (text.trim() === "") complaints.push(`${name}: no help`)
      seen.add(name)
      family = { name, kind: "", help: true }
    } else if (type !== null) {
      const [, name = "", kind = ""] = type
      if (name !== family.name || !family.help) complaints.push(`${name}: a type without help`)
      family = { ...family, kind }
      if (kind === "counter" && !name.endsWith("_total")) complaints.push(`${name}: a counter without _total`)
      if (kind !== "counter" && name.endsWith("_total")) complaints.push(`${name}: _total without being a counter`)
      if (/_(?:count|sum|bucket)$/.test(name)) complaints.push(`${name}: a reserved suffix`)
      if (/[A-Z]|millis|micros(?:econds)?_|minutes|_ms(?:_|$)|kilobytes|percent/.test(name))
        complaints.push(`${name}: not a base unit, or upper case`)
    } else if (sample !== null) {
      const [, name = "", labels = "", value = ""] = sample
      const base = family.kind === "histogram" ? name.replace(/_(?:bucket|sum|count)$/, "") : name
      if (base !== family.name || family.kind === "") complaints.push(`${line}: not below its family`)
      if (samples.has(`${name}{${labels}}`)) complaints.push(`${line}: a second sample`)
      samples.add(`${name}{${labels}}`)
      if (!Number.isFinite(Number(value))) complaints.push(`${line}: not a number`)
      if (family.kind === "counter" && Number(value) < 0) complaints.push(`${line}: a negative counter`)
      const rest = labels.replace(/[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\n"])*"(?:,|$)/g, "")
      if (rest !== "") complaints.push(`${line}: labels that cannot be read`)
      if (family.kind === "histogram" && name.endsWith("_bucket")) {
        const [, le = ""] = /le="([^"]*)"/.exec(labels) ?? []
        const series = labels.replace(/,?le="[^"]*"/, "")
        const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le)
        const last = bounds.get(`${name}{${series}}`)
        if (last !== undefined && bound <= last.bound) complaints.push(`${line}: a bucket out of order`)
        if (last !== undefined && Number(value) < last.count) complaints.push(`${line}: a bucket that decreases`)
        bounds.set(`${name}{${series}}`, { bound, count: Number(value) })
      }
    } else complaints.push(`${line}: not a line of the format`)
  }
  for (const [series, { bound }] of bounds) {
    if (bound !== Number.POSITIVE_INFINITY) complaints.push(`${series}: no bucket +Inf`)
  }
  return complaints
}

/** The values of the samples, by name with labels as on the page. */
export const samplesOf = (page: string): ReadonlyMap<string, number> =>
  new Map(
    page
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const at = line.lastIndexOf(" ")
        return [line.slice(0, at), Number(line.slice(at + 1))] as const
      })
  )
