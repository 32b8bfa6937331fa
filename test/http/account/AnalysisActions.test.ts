import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import type { ActionPreview } from "../../../src/wire/account/AnalysisActions.ts"
import type { PolicyOut } from "../../../src/wire/account/Policy.ts"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"
import { type AnalysedProject, analysedProject, type Detail, reportOf } from "../../support/AnalysisProject.ts"
import { byClients } from "../../support/Clients.ts"
import { codeOf } from "../../support/Responses.ts"

type Preview = typeof ActionPreview.Encoded
type Policy = typeof PolicyOut.Encoded

describe.each(databaseKinds)("the actions of analyses on %s", (kind) => {
  const node = startsNode(kind, async () => {
    const config = join(await mkdtemp(join(tmpdir(), "actions-")), "config.json")
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

  const calls = 32
  /** Calls that `auto` sends to the dearest model. */
  const withCalls = async (project: AnalysedProject, body: object = {}) => {
    await project.ask("PUT", `/api/projects/${project.id}/policy`, { default_alpha: 1 })
    await byClients(calls, async (at) => {
      const { model } = await project.chat({ messages: [{ role: "user", content: `Hello, number ${at}!` }], ...body })
      expect(model).toBe("sim/best")
    })
  }
  const pathOf = ({ id }: Detail, action: string, step: string) => `/api/analyses/${id}/actions/${action}/${step}`
  const policyOf = (project: AnalysedProject) => project.ask<Policy>("GET", `/api/projects/${project.id}/policy`)

  it("show what they would change, change it, and restore it", async () => {
    const project = await analysedProject(node, owner, operator)
    await withCalls(project)
    const analysis = await project.analyse()
    const report = reportOf(analysis)
    const action = report.actions.find(({ id }) => id === "lower_alpha")
    expect(action).toMatchObject({ kind: "policy", owner: "gateway" })
    expect(report.alpha_curve).toHaveLength(21)
    expect(report.causes.find(({ id }) => id === "overkill_model")).toMatchObject({ action_id: "lower_alpha" })

    const before = await policyOf(project)
    const preview = await project.ask<Preview>("POST", pathOf(analysis, "lower_alpha", "preview"))
    expect(preview).toMatchObject({
      kind: "policy",
      config_version: before.policy_version,
      managed_by_configuration: false,
      before: { default_alpha: 1 },
      becomes_empty: [],
      replay: { calls }
    })
    const { after, before: then, changed } = preview.replay ?? { after: undefined, before: undefined, changed: 0 }
    expect(changed).toBeGreaterThan(0)
    expect(after?.expected_cost_microusd).toBeLessThan(then?.expected_cost_microusd ?? 0)
    expect(await policyOf(project)).toEqual(before)

    const apply = (config_version?: number) =>
      owner.send("POST", pathOf(analysis, "lower_alpha", "apply"), { config_version })
    expect(await codeOf(await apply())).toEqual([400, "missing_required_parameter"])
    expect(await codeOf(await apply((preview.config_version ?? 0) + 1))).toEqual([409, "config_version_mismatch"])
    const applied = await apply(preview.config_version ?? 0)
    expect(applied.status).toBe(200)
    expect(((await applied.json()) as Detail).actions_taken).toMatchObject([
      { action_id: "lower_alpha", kind: "policy", undone_at: null, before: { default_alpha: 1 }, after: preview.after }
    ])
    expect((await policyOf(project)).default_alpha).toBe(preview.after?.default_alpha)
    // the calls follow it, and a repetition changes nothing
    const { model } = await project.chat({ messages: [{ role: "user", content: "Hello again!" }] })
    expect(model).not.toBe("sim/best")
    expect((await apply(preview.config_version ?? 0)).status).toBe(200)

    const undone = await project.ask<Detail>("POST", pathOf(analysis, "lower_alpha", "undo"))
    expect(undone.actions_taken[0]?.undone_at).not.toBeNull()
    const restored = await policyOf(project)
    expect({ ...restored, policy_version: 0 }).toEqual({ ...before, policy_version: 0 })
    const log = await project.ask<{ readonly items: ReadonlyArray<{ readonly action: string }> }>(
      "GET",
      "/api/audit?limit=20"
    )
    expect(log.items.map(({ action }) => action).filter((name) => name.startsWith("analysis.action"))).toEqual([
      "analysis.action.undo",
      "analysis.action.apply"
    ])
  }, 120_000)

  it("are not undone where a user has changed the fields since", async () => {
    const project = await analysedProject(node, owner, operator)
    await withCalls(project)
    const analysis = await project.analyse()
    const { config_version } = await project.ask<Preview>("POST", pathOf(analysis, "lower_alpha", "preview"))
    await project.ask("POST", pathOf(analysis, "lower_alpha", "apply"), { config_version })
    const current = await policyOf(project)
    const { managed_by_configuration, policy_version, ...policy } = current
    await project.ask("PUT", `/api/projects/${project.id}/policy`, { ...policy, default_alpha: 0.123 })
    expect(await codeOf(await owner.send("POST", pathOf(analysis, "lower_alpha", "undo")))).toEqual([
      409,
      "config_version_mismatch"
    ])
    expect((await policyOf(project)).default_alpha).toBe(0.123)
  }, 120_000)

  it("change the routing configuration that the calls have named, as a version of it", async () => {
    const project = await analysedProject(node, owner, operator)
    const path = `/api/projects/${project.id}/routing-configurations`
    await project.ask("POST", path, { slug: "dear-one", alpha: 1 })
    await withCalls(project, { model: "auto:dear-one" })
    const analysis = await project.analyse()
    const action = "lower_alpha.dear-one"
    const preview = await project.ask<Preview>("POST", pathOf(analysis, action, "preview"))
    expect(preview).toMatchObject({ kind: "routing_configuration", before: { alpha: 1 }, replay: { calls } })
    const { config_version } = preview
    await project.ask("POST", pathOf(analysis, action, "apply"), { config_version })
    expect(await project.ask("GET", `${path}/dear-one`)).toMatchObject({ ...preview.after, active_version: 2 })
    await project.ask("POST", pathOf(analysis, action, "undo"))
    expect(await project.ask("GET", `${path}/dear-one`)).toMatchObject({ alpha: 1, active_version: 3 })
  }, 120_000)

  it("are shown, and not applied, where GATEWAY_CONFIG has the policy", async () => {
    const project = await analysedProject(node, owner, operator)
    await withCalls(project)
    const analysis = await project.analyse()
    await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`update project set managed_by_configuration = true where id = ${project.id}`
      )
    )
    const { config_version, ...preview } = await project.ask<Preview>(
      "POST",
      pathOf(analysis, "lower_alpha", "preview")
    )
    expect(preview).toMatchObject({ managed_by_configuration: true })
    expect(
      await codeOf(await owner.send("POST", pathOf(analysis, "lower_alpha", "apply"), { config_version }))
    ).toEqual([409, "managed_by_configuration"])
    const { actions_taken } = await project.ask<Detail>("GET", `/api/analyses/${analysis.id}`)
    expect(actions_taken).toEqual([])
  }, 120_000)

  it.each([
    ["provider_error", true],
    ["provider_timeout", true],
    ["content_policy_violation", false],
    ["provider_rejected_request", false],
    ["context_length_exceeded", false],
    ["server_shutdown", false]
  ])(
    "leave out the model where attempts ended with %s: %s",
    async (code, isProposed) => {
      const project = await analysedProject(node, owner, operator)
      await withCalls(project)
      await node.run(
        Effect.zipRight(
          Effect.flatMap(Ledger, ({ flushed }) => flushed),
          Effect.flatMap(
            SqlClient,
            (sql) => sql`with failed as (
                update call set attempt_started_at = null, attempt_latency_millis = null where project_id = ${project.id}
                returning id, provider, model, latency_millis
              )
              insert into attempt (call_id, position, provider, model, status, error_code, cost_micro_usd, cost_basis, latency_millis)
              select id, 0, provider, model, 'error', ${code}, 0, 'charged', latency_millis from failed`
          )
        )
      )
      const { actions } = reportOf(await project.analyse())
      expect(actions.some(({ id }) => id === "exclude_failing_models")).toBe(isProposed)
    },
    60_000
  )

  it("are for members", async () => {
    const project = await analysedProject(node, owner, operator)
    await withCalls(project)
    const analysis = await project.analyse()
    const viewer = await newPerson(node)
    await project.ask("POST", `/api/projects/${project.id}/members`, { user_id: viewer.userId, role: "viewer" })
    expect((await viewer.send("POST", pathOf(analysis, "lower_alpha", "preview"))).status).toBe(200)
    for (const step of ["apply", "undo"]) {
      expect((await viewer.send("POST", pathOf(analysis, "lower_alpha", step), {})).status).toBe(403)
    }
  }, 120_000)
})
