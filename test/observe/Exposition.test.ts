import { spawnSync } from "node:child_process"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type ExposedFamily, merge, snapshot } from "../../src/observe/Exposition.ts"
import * as LedgerMetrics from "../../src/observe/LedgerMetrics.ts"
import * as Metrics from "../../src/observe/Metrics.ts"
import * as ProcessMetrics from "../../src/observe/ProcessMetrics.ts"
import { render } from "../../src/observe/Prometheus.ts"
import { complaintsOf, samplesOf } from "../support/TextFormat.ts"

/** A page with a sample of everything that this process can count. */
const page = (): string => {
  Metrics.start()
  LedgerMetrics.start()
  Metrics.build("0.1.0", "20.0.0", "embedded")
  Metrics.calls("chat", "success")
  for (const value of [0.001, 0.4, 7, 10_000]) {
    Metrics.callSeconds(value)
    Metrics.attempt('a "quoted"\\ provider\n', "success", value)
    LedgerMetrics.batch(value, value)
    LedgerMetrics.reserveSeconds(value)
    LedgerMetrics.connectionWaitSeconds(value)
    Metrics.loopStall("parse", value)
  }
  Metrics.attemptFailure("one", "Stalled", "timeout", "FallBack")
  Metrics.attemptFailure("one", "Reset", "network", "Retry")
  Metrics.tokens("one", "one/m", "input", 10)
  Metrics.cost("one", "one/m", "charged", 20)
  Metrics.refusal(402, "insufficient_balance", "held", "account")
  Metrics.circuit("one", "one/m", "route", true)
  Metrics.circuitOpening("one", "route", "Stalled")
  Metrics.credential("one", "refused", ["accepted", "refused"])
  LedgerMetrics.connections("calls", 1, 2, 3)
  LedgerMetrics.waiting(1, 2)
  return Effect.runSync(
    Effect.scoped(
      Effect.as(Layer.build(ProcessMetrics.layer), undefined).pipe(
        Effect.zipRight(Effect.sync(() => render(snapshot())))
      )
    )
  )
}

describe("the page of metrics", () => {
  it("follows the rules of the text format", () => {
    expect(complaintsOf(page())).toEqual([])
  })

  it.skipIf(spawnSync("promtool", ["--version"]).status !== 0)("has nothing that promtool complains about", () => {
    const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: page(), encoding: "utf8" })
    expect(stdout + stderr).toBe("")
    expect(status).toBe(0)
  })

  it("is found out by the checker when it breaks a rule", () => {
    const head = "# HELP a_total b\n# TYPE a_total counter\n"
    expect(complaintsOf(`${head}a_total 1\n`)).toEqual([])
    for (const broken of [
      "# HELP a_total \n# TYPE a_total counter\na_total 1\n",
      "# HELP a b\n# TYPE a counter\na 1\n",
      `${head}b_total 1\n`,
      `${head}a_total x\n`,
      `${head}a_total{b=1} 1\n`,
      `${head}a_total 1\na_total 2\n`,
      '# HELP h b\n# TYPE h histogram\nh_bucket{le="10"} 1\nh_bucket{le="2"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
      '# HELP h b\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n'
    ]) {
      expect([broken, complaintsOf(broken).length]).toEqual([broken, 1])
    }
  })

  it("shows defects and lost settlements from the start, and nothing of Effect's own runtime", () => {
    const text = page()
    expect(text).toMatch(/^gateway_defects_total \d+$/m)
    expect(text).toMatch(/^gateway_ledger_settlements_dropped_total \d+$/m)
    expect(text).not.toContain("effect_fiber")
  })

  it("has the process, by the names that dashboards know", () => {
    const samples = samplesOf(page())
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000)
    expect(samples.get("process_cpu_seconds_total")).toBeGreaterThan(0)
    expect(samples.get("process_start_time_seconds")).toBeCloseTo(performance.timeOrigin / 1_000)
    expect(samples.get('nodejs_eventloop_lag_seconds{statistic="p99"}')).toBeGreaterThanOrEqual(0)
    if (process.platform === "linux") {
      expect(samples.get("process_open_fds")).toBeGreaterThan(2)
      expect(samples.get("process_max_fds")).toBeGreaterThan(2)
    }
  })
})

describe("the metrics of several workers", () => {
  const counter = (value: number): ExposedFamily => ({
    name: "c_total",
    kind: "counter",
    help: "c",
    acrossWorkers: "sum",
    samples: [{ labels: [["a", "b"]], value }]
  })
  const gauge = (acrossWorkers: ExposedFamily["acrossWorkers"], value: number): ExposedFamily => ({
    name: `g_${acrossWorkers}`,
    kind: "gauge",
    help: "g",
    acrossWorkers,
    samples: [{ labels: [], value }]
  })
  const histogram = (values: ReadonlyArray<number>): ExposedFamily => ({
    name: "h",
    kind: "histogram",
    help: "h",
    acrossWorkers: "sum",
    samples: [
      {
        labels: [],
        buckets: [1, 2].map((bound) => [bound, values.filter((value) => value <= bound).length] as const),
        count: values.length,
        sum: values.reduce((sum, value) => sum + value, 0)
      }
    ]
  })

  it("are sums of counters and histograms; gauges are summed, the largest, or one for each worker", () => {
    const samples = samplesOf(
      render(
        merge([
          {
            worker: "1",
            families: [counter(1), gauge("sum", 2), gauge("max", 3), gauge("worker", 4), histogram([1, 3])]
          },
          {
            worker: "2",
            families: [counter(10), gauge("sum", 20), gauge("max", 30), gauge("worker", 40), histogram([2])]
          }
        ])
      )
    )
    expect(Object.fromEntries(samples)).toEqual({
      'c_total{a="b"}': 11,
      g_sum: 22,
      g_max: 30,
      'g_worker{worker="1"}': 4,
      'g_worker{worker="2"}': 40,
      'h_bucket{le="1"}': 1,
      'h_bucket{le="2"}': 2,
      'h_bucket{le="+Inf"}': 3,
      h_sum: 6,
      h_count: 3
    })
  })

  it("do not depend on how the workers are grouped or ordered", () => {
    const worker = fc.record({ count: fc.nat(1_000), values: fc.array(fc.nat(5), { maxLength: 5 }) })
    fc.assert(
      fc.property(fc.array(worker, { minLength: 2, maxLength: 5 }), (workers) => {
        const each = workers.map(({ count, values }, index) => ({
          worker: String(index),
          families: [counter(count), histogram(values)]
        }))
        const [first, ...rest] = each
        const grouped = merge([...rest.reverse(), { worker: "x", families: merge(first === undefined ? [] : [first]) }])
        expect(render(grouped)).toBe(render(merge(each)))
        expect(render(merge([{ worker: "a", families: merge(each) }]))).toBe(render(merge(each)))
      })
    )
  })
})
