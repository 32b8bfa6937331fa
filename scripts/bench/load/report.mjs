// @ts-check
// Medians over rounds, as markdown: everything beside the byte proxy of the same run.

/** @param {ReadonlyArray<number>} values */
export const median = (values) => {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** @import { Scenario } from "../lib/scenarios.mjs" */
/** @import { Server } from "../lib/servers.mjs" */
/** @typedef {Awaited<ReturnType<typeof import("../lib/loops.mjs").run>>} Round */
/** @typedef {ReturnType<typeof summarize>} Figures */
/** @typedef {{ title: string, of: (own: Figures, proxy: Figures | undefined, direct: Figures | undefined) => string | number }} Column */

/** One server's rounds of a scenario as one row of figures. @param {ReadonlyArray<Round>} rounds */
export const summarize = (rounds) => ({
  requests: rounds.reduce((sum, round) => sum + round.requests, 0),
  perSecond: median(rounds.map((round) => round.perSecond)),
  totalMicros: median(rounds.map((round) => round.totalMicros.p50)),
  totalP99Micros: median(rounds.map((round) => round.totalMicros.p99)),
  firstMicros: median(rounds.map((round) => round.firstMicros.p50)),
  chunkMicros: median(rounds.map((round) => round.delayMicros.p50)),
  cpuMicros: median(rounds.map((round) => round.cpuMicrosPerRequest)),
  cpuRange: [
    Math.min(...rounds.map((round) => round.cpuMicrosPerRequest)),
    Math.max(...rounds.map((round) => round.cpuMicrosPerRequest))
  ],
  failures: rounds.reduce((sum, round) => sum + Object.values(round.failures).reduce((a, b) => a + b, 0), 0)
})

/** @param {number | undefined} value @param {number} [places] */
const digits = (value = Number.NaN, places = 0) => (Number.isFinite(value) ? value.toFixed(places) : "-")
/** @param {number} value @param {number | undefined} base */
const ratio = (value, base = Number.NaN) => (Number.isFinite(value / base) ? `${(value / base).toFixed(2)}x` : "-")
/** @param {ReadonlyArray<string | number>} cells */
const row = (cells) => `| ${cells.join(" | ")} |`
/** @param {ReadonlyArray<string>} head @param {ReadonlyArray<ReadonlyArray<string | number>>} rows */
const table = (head, rows) => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")

/**
 * `figures` by server name; added times are over `direct`, ratios over `proxy`.
 *
 * @param {string} name
 * @param {Scenario} scenario
 * @param {Readonly<Record<string, Figures>>} figures
 */
export const scenarioTable = (name, scenario, figures) => {
  const { direct, proxy } = figures
  const columns = scenario.stream ? streamColumns : plainColumns
  const rows = Object.entries(figures).map(([server, own]) => [
    server,
    ...columns.map(({ of }) => of(own, proxy, direct))
  ])
  return `## ${name}: ${scenario.about}\n${table(["server", ...columns.map(({ title }) => title)], rows)}`
}

/** @typedef {"totalMicros" | "firstMicros" | "chunkMicros"} TimeFigure */

/** @param {Figures} own @param {Figures | undefined} direct @param {TimeFigure} figure */
const added = (own, direct, figure) => (direct === undefined ? Number.NaN : own[figure] - direct[figure])

/** @type {ReadonlyArray<Column>} */
const cpuColumns = [
  { title: "CPU µs/request", of: (own) => digits(own.cpuMicros) },
  { title: "x proxy", of: (own, proxy) => ratio(own.cpuMicros, proxy?.cpuMicros) },
  { title: "rounds", of: (own) => own.cpuRange.map((cpu) => digits(cpu)).join("-") },
  { title: "failed", of: (own) => own.failures }
]

/** @param {string} title @param {TimeFigure} figure @returns {ReadonlyArray<Column>} */
const addedColumns = (title, figure) => [
  { title: `${title} p50 µs`, of: (own) => digits(own[figure]) },
  { title: "added", of: (own, _, direct) => digits(added(own, direct, figure)) },
  {
    title: "x proxy's added",
    of: (own, proxy, direct) =>
      proxy === undefined ? "-" : ratio(added(own, direct, figure), added(proxy, direct, figure))
  }
]

/** @type {ReadonlyArray<Column>} */
const plainColumns = [
  { title: "req/s", of: (own) => digits(own.perSecond) },
  ...addedColumns("whole", "totalMicros"),
  { title: "p99 µs", of: (own) => digits(own.totalP99Micros) },
  ...cpuColumns
]

/** @type {ReadonlyArray<Column>} */
const streamColumns = [
  { title: "streams/s", of: (own) => digits(own.perSecond) },
  ...addedColumns("first chunk", "firstMicros"),
  ...addedColumns("each chunk", "chunkMicros"),
  ...cpuColumns
]

/** @typedef {Server & { idleMegabytes?: number, loadedMegabytes?: number }} MeasuredProcess */

/** @param {ReadonlyArray<MeasuredProcess>} servers */
export const processTable = (servers) =>
  `## Processes\n${table(
    ["server", "start on an existing database ms", "RSS MB idle", "RSS MB after load"],
    servers.map(({ idleMegabytes, loadedMegabytes, name, startMillis }) => [
      name,
      digits(startMillis),
      digits(idleMegabytes),
      digits(loadedMegabytes)
    ])
  )}`

/**
 * @typedef {{
 *   name: string
 *   idleMegabytes: number
 *   warmMegabytes: number
 *   openMegabytes: number
 *   firstMillis: number
 *   failed: number
 *   upstreamOpen: number
 *   upstreamLeft: number
 *   goneMillis: number
 * }} OpenStreams
 */

/** @param {number} count @param {ReadonlyArray<OpenStreams>} results */
export const streamsTable = (count, results) =>
  table(
    [
      "server",
      "RSS MB idle",
      "warm",
      `with ${count} streams`,
      "KB a stream",
      "first chunk p50 ms",
      "failed",
      "upstream open",
      "after all clients left",
      "ms"
    ],
    results.map((one) => [
      one.name,
      digits(one.idleMegabytes),
      digits(one.warmMegabytes),
      digits(one.openMegabytes),
      digits(((one.openMegabytes - one.warmMegabytes) * 1024) / count, 1),
      digits(one.firstMillis, 1),
      one.failed,
      one.upstreamOpen,
      one.upstreamLeft,
      digits(one.goneMillis)
    ])
  )
