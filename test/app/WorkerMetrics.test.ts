import { describe, expect, it } from "vitest"
import { WorkerMetrics } from "../../src/app/WorkerMetrics.ts"
import type { Exposition, WorkerExposition } from "../../src/observe/Exposition.ts"
import { merge } from "../../src/observe/Exposition.ts"
import { render } from "../../src/observe/Prometheus.ts"
import { samplesOf } from "../support/TextFormat.ts"

/** Two workers that have counted so many calls; `answers` says who still answers the supervisor. */
const supervisor = () => {
  const metrics = new WorkerMetrics()
  const counted = new Map<number, number>()
  const answers = new Set<number>()
  const scraped: Array<ReadonlyMap<string, number>> = []
  const families = (id: number): Exposition => [
    {
      name: "calls_total",
      kind: "counter",
      help: "Calls.",
      acrossWorkers: "sum",
      samples: [{ labels: [], value: counted.get(id) ?? 0 }]
    },
    { name: "memory", kind: "gauge", help: "Memory.", acrossWorkers: "worker", samples: [{ labels: [], value: id }] }
  ]
  let lastScrape = 0
  return {
    metrics,
    counted,
    answers,
    join: (id: number, name: string) => {
      answers.add(id)
      metrics.joined({
        id,
        name,
        send: (message) => {
          if (message.metrics === "collect" && answers.has(id)) {
            metrics.received(id, { metrics: "collected", round: message.round, families: families(id) })
          } else if (message.metrics === "all") {
            scraped.push(samplesOf(render(merge(message.workers as ReadonlyArray<WorkerExposition>))))
          }
        }
      })
    },
    scrape: (by: number) => {
      lastScrape += 1
      metrics.received(by, { metrics: "ask", scrape: lastScrape })
    },
    last: () => Object.fromEntries(scraped.at(-1) ?? []),
    count: () => scraped.length
  }
}

describe("a scrape of several workers", () => {
  it("is the same sum whichever worker it reaches", () => {
    const { counted, join, last, scrape } = supervisor()
    join(1, "1")
    join(2, "2")
    counted.set(1, 3).set(2, 4)
    for (const by of [1, 2]) {
      scrape(by)
      expect(last()).toEqual({ calls_total: 7, 'memory{worker="1"}': 1, 'memory{worker="2"}': 2 })
    }
  })

  it("does not go back when a worker is replaced, and its gauges go with it", () => {
    const { counted, join, last, metrics, scrape } = supervisor()
    join(1, "1")
    join(2, "2")
    counted.set(1, 3).set(2, 4)
    scrape(1)
    metrics.exited(2)
    scrape(1)
    expect(last()).toEqual({ calls_total: 7, 'memory{worker="1"}': 1 })
    join(3, "2")
    counted.set(3, 1)
    scrape(3)
    expect(last()).toEqual({ calls_total: 8, 'memory{worker="1"}': 1, 'memory{worker="2"}': 3 })
  })

  it("is not held up by a worker that exits before it answers", () => {
    const { answers, count, join, metrics, scrape } = supervisor()
    join(1, "1")
    join(2, "2")
    answers.delete(2)
    scrape(1)
    expect(count()).toBe(0)
    metrics.exited(2)
    expect(count()).toBe(1)
  })

  it("ignores messages that are none of its own", () => {
    const { count, join, metrics } = supervisor()
    join(1, "1")
    for (const message of ["force", null, 7, { metrics: "other" }]) metrics.received(1, message)
    expect(count()).toBe(0)
  })
})
