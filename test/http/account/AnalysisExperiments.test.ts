import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import type { ActionPreview } from "../../../src/wire/account/AnalysisActions.ts"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"
import { type AnalysedProject, analysedProject, type Detail, reportOf } from "../../support/AnalysisProject.ts"
import { byClients } from "../../support/Clients.ts"
import { whenSeen } from "../../support/WhenSeen.ts"

type Preview = typeof ActionPreview.Encoded
interface Policy {
  readonly default_alpha: number | null
  readonly policy_version: number
}

const canary = { share: 0.5, days: 7 }

const faultOf = async (response: Response) => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly param: string } }
  return [response.status, error.code, error.param] as const
}

describe.each(databaseKinds)("the hold-out of an action on %s", (kind) => {
  const node = startsNode(kind, async () => {
    const config = join(await mkdtemp(join(tmpdir(), "experiments-")), "config.json")
    // answers that are as good cost a fifth
    await writeFile(config, JSON.stringify({ models: { "sim/balanced": { quality: 0.87 } } }))
    return { SIMULATED_PROVIDERS: "on", GATEWAY_CONFIG: config }
  })
  let owner: Person
  let operator: Person
  beforeAll(async () => {
    owner = await newPerson(node)
    operator = await operatorOf(node)
  })

  const analysed = async () => {
    const project = await analysedProject(node, owner, operator)
    await project.ask("PUT", `/api/projects/${project.id}/policy`, { default_alpha: 1 })
    await byClients(32, async (at) => {
      await project.chat({ messages: [{ role: "user", content: `Hello, number ${at}!` }] })
    })
    const asked = { temperature: 0, messages: [{ role: "user", content: "What is asked more than once?" }] }
    for (let at = 0; at < 8; at++) await project.chat(asked)
    return { project, analysis: await project.analyse() }
  }
  const pathOf = ({ id }: Detail, step: string) => `/api/analyses/${id}/actions/lower_alpha/${step}`
  const apply = async (project: AnalysedProject, analysis: Detail, body: object) => {
    const { config_version } = await project.ask<Preview>("POST", pathOf(analysis, "preview"))
    return owner.send("POST", pathOf(analysis, "apply"), { config_version, ...body })
  }
  const policyOf = (project: AnalysedProject) => project.ask<Policy>("GET", `/api/projects/${project.id}/policy`)
  const receiptOf = (detail: Detail) => reportOf(detail).actions.find(({ id }) => id === "lower_alpha")?.receipt

  it("is proposed with the action, ends when the action is undone, and can start again", async () => {
    const { analysis, project } = await analysed()
    const action = reportOf(analysis).actions.find(({ id }) => id === "lower_alpha")
    expect(action).toMatchObject({ canary, receipt: null })
    const first = (await (await apply(project, analysis, { canary })).json()) as Detail
    expect(receiptOf(first)).toMatchObject({ state: "running", share: canary.share, reason: null, ended_at: null })
    const undone = await project.ask<Detail>("POST", pathOf(analysis, "undo"))
    expect(receiptOf(undone)).toMatchObject({ state: "undone", reason: "A user undid the action." })
    expect((await policyOf(project)).default_alpha).toBe(1)
    const second = (await (await apply(project, analysis, { canary })).json()) as Detail
    expect(receiptOf(second)?.state).toBe("running")
    expect(receiptOf(second)?.experiment_id).not.toBe(receiptOf(first)?.experiment_id)
  }, 120_000)

  it("ends when a user changes what the action had changed, and leaves that as it is", async () => {
    const { analysis, project } = await analysed()
    expect((await apply(project, analysis, { canary })).status).toBe(200)
    await project.ask("PUT", `/api/projects/${project.id}/policy`, { default_alpha: 0.123 })
    const receipt = await whenSeen(
      async () => receiptOf(await project.ask<Detail>("GET", `/api/analyses/${analysis.id}`)),
      (found) => found?.state !== "running"
    )
    expect(receipt).toMatchObject({
      state: "superseded",
      reason: "A user changed the fields that the action had changed."
    })
    expect((await policyOf(project)).default_alpha).toBe(0.123)
  }, 120_000)

  it("is refused for what changes nothing here, and where the change already applies to all", async () => {
    const { analysis, project } = await analysed()
    expect(reportOf(analysis).actions.find(({ id }) => id === "duplicate")).toMatchObject({
      kind: "client_hint",
      canary: null
    })
    const hint = await owner.send("POST", `/api/analyses/${analysis.id}/actions/duplicate/apply`, { canary })
    expect(await faultOf(hint)).toEqual([400, "unsupported_parameter", "canary"])
    for (const wrong of [
      { share: 1, days: 7 },
      { share: 0.9, days: 0 },
      { share: 0.9, days: 31 }
    ]) {
      expect((await apply(project, analysis, { canary: wrong })).status).toBe(400)
    }
    expect((await apply(project, analysis, {})).status).toBe(200)
    expect(await faultOf(await apply(project, analysis, { canary }))).toEqual([409, "already_exists", null])
    const { actions } = reportOf(await project.ask<Detail>("GET", `/api/analyses/${analysis.id}`))
    expect(actions.map(({ receipt }) => receipt)).toEqual(actions.map(() => null))
  }, 120_000)

  it("is for members, and gone with the project", async () => {
    const { analysis, project } = await analysed()
    const viewer = await newPerson(node)
    await project.ask("POST", `/api/projects/${project.id}/members`, { user_id: viewer.userId, role: "viewer" })
    const { config_version } = await project.ask<Preview>("POST", pathOf(analysis, "preview"))
    expect((await viewer.send("POST", pathOf(analysis, "apply"), { config_version, canary })).status).toBe(403)
    const stranger = await newPerson(node)
    expect((await stranger.send("POST", pathOf(analysis, "apply"), { config_version, canary })).status).toBe(404)
    expect((await apply(project, analysis, { canary })).status).toBe(200)
    const keys = await project.ask<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      `/api/projects/${project.id}/keys`
    )
    for (const { id } of keys.items) expect((await owner.send("DELETE", `/api/keys/${id}`)).ok).toBe(true)
    expect((await owner.send("DELETE", `/api/projects/${project.id}`)).ok).toBe(true)
    const left = await node.run(
      Effect.flatMap(SqlClient, (sql) => sql`select id from experiment where project_id = ${project.id}`)
    )
    expect(left).toEqual([])
  }, 120_000)
})
