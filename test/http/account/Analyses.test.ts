import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import { ChangeNotifications } from "../../../src/sql/ChangeNotifications.ts"
import type { AnalysisDetail, AnalysisEstimate, AnalysisSummary } from "../../../src/wire/account/Analyses.ts"
import { logCalls } from "../../account/calls.ts"
import { databaseKinds, newPerson, type Person, startsNode } from "../../support/AccountService.ts"
import { codeOf } from "../../support/Responses.ts"
import { whenSeen } from "../../support/WhenSeen.ts"

type Summary = typeof AnalysisSummary.Encoded
type Detail = typeof AnalysisDetail.Encoded
const unknownId = "00000000-0000-7000-8000-00000000dead"

const bodyOf = async <A>(response: Response, status = 200): Promise<A> => {
  expect(response.status).toBe(status)
  return (await response.json()) as A
}

describe.each(databaseKinds)("analyses over HTTP on %s", (kind) => {
  const node = startsNode(kind)
  let owner: Person
  beforeAll(async () => {
    owner = await newPerson(node)
  })

  const newProject = async () =>
    (await bodyOf<{ readonly id: string }>(await owner.send("POST", "/api/me/projects", { name: "analysed" }), 201)).id
  const projectWithCalls = async (count: number) => {
    const project = await newProject()
    const caller = { accountId: owner.accountId, projectId: ProjectId.make(project), keyId: KeyId.make(unknownId) }
    await node.run(logCalls(Array.from({ length: count }, (_, i) => ({ caller, agoSeconds: i }))))
    return project
  }
  const ended = (id: string): Promise<Detail> =>
    whenSeen(
      async () => bodyOf<Detail>(await owner.send("GET", `/api/analyses/${id}`)),
      ({ finished_at }) => finished_at !== null
    )
  const start = async (project: string, body: object = {}) =>
    bodyOf<Summary>(await owner.send("POST", `/api/projects/${project}/analyses`, body), 202)
  /** A queued analysis that no node takes. */
  const held = async (project: string) => {
    const { id } = await start(project)
    await ended(id)
    await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) =>
          sql`update analysis set status = 'running', finished_at = null, report_sealed = null, lease_until = now() + interval '1 day'
            where id = ${id}`
      )
    )
    return id
  }

  it("are 503 where no master key opens the report, which is not taken for an analysis without one", async () => {
    const project = await projectWithCalls(1)
    const { id } = await start(project)
    await ended(id)
    await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`update analysis set report_sealed = ${new Uint8Array(64)} where id = ${id}`
      )
    )
    const of = `/api/analyses/${id}`
    for (const [method, path, body] of [
      ["GET", of],
      ["POST", `${of}/replay`, { max_spend_microusd: 1 }],
      ["POST", `${of}/actions/a/preview`],
      ["POST", `${of}/actions/a/apply`, {}],
      ["POST", `${of}/actions/a/undo`]
    ] as const) {
      expect([path, await codeOf(await owner.send(method, path, body))]).toEqual([path, [503, "sealing_unavailable"]])
    }
    expect((await owner.send("GET", `/api/projects/${project}/analyses`)).status).toBe(200)
  })

  it("reads the log of calls where nothing is captured, and says how little that is", async () => {
    const project = await projectWithCalls(3)
    const estimate = await bodyOf<typeof AnalysisEstimate.Encoded>(
      await owner.send("POST", `/api/projects/${project}/analyses/estimate`, {})
    )
    expect(estimate).toMatchObject({ conversations: 0, calls: 0, traffic: { calls: 3 }, cost: { amount_microusd: 0 } })
    const created = await start(project, { requested_count: 5 })
    expect(created).toMatchObject({
      project_id: project,
      requested_count: 5,
      sample_count: 0,
      finished_at: null,
      error: null
    })
    const done = await ended(created.id)
    expect(done).toMatchObject({ status: "insufficient_data", sample_count: 3, progress: null, actions_taken: [] })
    expect(done.report).toMatchObject({
      version: 1,
      scope: {
        source: "call_log",
        samples: 3,
        traffic: { calls: 3 },
        calls_covered: 0,
        excluded: [{ reason: "not_captured", count: 3 }]
      },
      headline: { projected: null },
      honesty: { insufficient: expect.arrayContaining([{ what: "calls", have: 3, need: 30 }]) }
    })
    const listed = await bodyOf<{ readonly items: ReadonlyArray<Summary> }>(
      await owner.send("GET", `/api/projects/${project}/analyses`)
    )
    expect(listed.items.map(({ id }) => id)).toEqual([created.id])
    expect(listed.items[0]).not.toHaveProperty("report")
  })

  it("answers a repeated request with the analysis of the first one, and refuses a second beside one that runs", async () => {
    const project = await newProject()
    const path = `/api/projects/${project}/analyses`
    const key = { "idempotency-key": "once" }
    const first = await bodyOf<Summary>(await owner.send("POST", path, {}, key), 202)
    expect(await bodyOf<Summary>(await owner.send("POST", path, {}, key), 202)).toEqual(first)
    await ended(first.id)
    const busy = await newProject()
    await held(busy)
    expect(await codeOf(await owner.send("POST", `/api/projects/${busy}/analyses`, {}))).toEqual([
      409,
      "already_exists"
    ])
  })

  it("is cancelled while it waits or runs, and is left as it is once it has ended", async () => {
    const project = await newProject()
    const id = await held(project)
    expect(await bodyOf<Summary>(await owner.send("POST", `/api/analyses/${id}/cancel`))).toMatchObject({
      status: "running"
    })
    await node.run(
      Effect.flatMap(Effect.all([SqlClient, ChangeNotifications]), ([sql, changes]) =>
        changes.commit((announce) =>
          Effect.zipRight(
            sql`update analysis set lease_until = now() - interval '1 second' where id = ${id}`,
            announce({ kind: "analysis", id })
          )
        )
      )
    )
    expect(await ended(id)).toMatchObject({ status: "cancelled", report: null })
    expect(await bodyOf<Summary>(await owner.send("POST", `/api/analyses/${id}/cancel`))).toMatchObject({
      status: "cancelled"
    })
  })

  it("rejects unknown fields, counts out of range and an empty range", async () => {
    const project = await newProject()
    const send = async (body: object) => codeOf(await owner.send("POST", `/api/projects/${project}/analyses`, body))
    expect(await send({ count: 5 })).toEqual([400, "unsupported_parameter"])
    expect((await send({ requested_count: 1001 }))[0]).toBe(400)
    expect((await send({ requested_count: 0 }))[0]).toBe(400)
    expect(await send({ start: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z" })).toEqual([400, "invalid_value"])
    expect(await send({ start: "-271821-04-20T00:00:00Z" })).toEqual([400, "invalid_value"])
  })

  it("has no action that its report does not recommend", async () => {
    const project = await newProject()
    const { id } = await start(project)
    await ended(id)
    expect((await owner.send("POST", `/api/analyses/${id}/actions/duplicate/apply`, {})).status).toBe(404)
  })

  it("is deleted with its project, while it waits or runs too", async () => {
    const project = await newProject()
    const { id } = await start(project)
    await ended(id)
    const running = await newProject()
    const second = await held(running)
    for (const [of, analysis] of [
      [project, id],
      [running, second]
    ] as const) {
      expect((await owner.send("DELETE", `/api/projects/${of}`)).status).toBe(204)
      expect((await owner.send("GET", `/api/analyses/${analysis}`)).status).toBe(404)
    }
    const rows = await node.run(
      Effect.flatMap(SqlClient, (sql) => sql`select id from analysis where project_id in (${project}, ${running})`)
    )
    expect(rows).toEqual([])
  })
})
