import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { Capture } from "../../src/capture/Capture.ts"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../support/AccountService.ts"
import { analysedProject } from "../support/AnalysisProject.ts"

const calls = 40
/** More than are written together. */
const many = 96

describe.each(databaseKinds)("a store of captured calls that fails, on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let owner: Person
  let operator: Person
  beforeAll(async () => {
    owner = await newPerson(node)
    operator = await operatorOf(node)
  })

  const flushed = () => node.run(Effect.flatMap(Capture, (capture) => capture.flushed))
  const rename = (from: string, to: string) =>
    node.run(Effect.flatMap(SqlClient, (sql) => sql.unsafe(`alter table ${from} rename to ${to}`)))
  const droppedByReason = async () => {
    const text = await (await fetch(`${node.url}/metrics`)).text()
    const lines = text.matchAll(/^gateway_capture_dropped_total\{reason="([a-z_]+)"\} (\d+)$/gmu)
    return new Map([...lines].map(([, reason = "", count]) => [reason, Number(count)]))
  }

  it("counts each call once where one of two projects can not be written, and keeps those of the other", async () => {
    const [failing, working] = [
      await analysedProject(node, owner, operator),
      await analysedProject(node, owner, operator)
    ]
    const count = async (name: string) =>
      Number(new RegExp(`^${name} (\\d+)$`, "mu").exec(await (await fetch(`${node.url}/metrics`)).text())?.[1] ?? 0)
    const keptBefore = await count("gateway_capture_samples_total")
    const before = await droppedByReason()
    await node.run(
      Effect.flatMap(SqlClient, (sql) =>
        sql.unsafe(`alter table capture_sample add constraint refused check (project_id <> '${failing.id}')`)
      )
    )
    await Promise.all(
      Array.from({ length: many }, (_, at) =>
        (at % 2 === 0 ? failing : working).chat({
          model: "sim/fast",
          messages: [{ role: "user", content: `question ${at}` }]
        })
      )
    )
    await vi.waitFor(async () => {
      await flushed()
      const { items } = await working.ask<{ readonly items: ReadonlyArray<object> }>(
        "GET",
        `/api/projects/${working.id}/capture/samples?limit=100`
      )
      const lost = [...(await droppedByReason())].reduce((sum, [, amount]) => sum + amount, 0)
      const lostBefore = [...before.values()].reduce((sum, amount) => sum + amount, 0)
      const kept = (await count("gateway_capture_samples_total")) - keptBefore
      expect([kept, items.length, lost - lostBefore]).toEqual([many / 2, many / 2, many / 2])
    }, 10_000)
    await node.run(Effect.flatMap(SqlClient, (sql) => sql.unsafe("alter table capture_sample drop constraint refused")))
  })

  it.each(["capture_conversation", "capture_sample"])(
    "fails no call while %s can not be written, counts what is lost, and goes on afterwards",
    async (table) => {
      const project = await analysedProject(node, owner, operator)
      const ask = (text: string) => project.chat({ model: "sim/fast", messages: [{ role: "user", content: text }] })
      const stored = async () => {
        await flushed()
        const { items } = await project.ask<{ readonly items: ReadonlyArray<object> }>(
          "GET",
          `/api/projects/${project.id}/capture/samples?limit=100`
        )
        return items.length
      }
      // an answer has been read before its call is handed over
      const untilStored = (count: number) => vi.waitFor(async () => expect(await stored()).toBe(count), 10_000)
      await ask("before")
      await untilStored(1)
      const before = await droppedByReason()
      await rename(table, "away")
      // each of them has to be answered with 200
      await Promise.all(Array.from({ length: calls }, (_, at) => ask(`question ${at}`)))
      await vi.waitFor(async () => {
        await flushed()
        const lost = [...(await droppedByReason())]
          .map(([reason, count]) => [reason, count - (before.get(reason) ?? 0)] as const)
          .filter(([, count]) => count > 0)
        expect(lost).toEqual([["store_unavailable", calls]])
      }, 10_000)
      await rename("away", table)
      await Promise.all(Array.from({ length: 5 }, (_, at) => ask(`afterwards ${at}`)))
      await untilStored(6)
    }
  )
})
