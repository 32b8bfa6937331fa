import { mkdtemp, writeFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { ProjectId } from "../../../src/domain/Ids.ts"
import { QualityEvidence } from "../../../src/routing/evidence/QualityEvidenceStore.ts"
import type { ReplayQuote } from "../../../src/wire/account/AnalysisEvidence.ts"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"
import { type AnalysedProject, analysedProject, type Detail, reportOf } from "../../support/AnalysisProject.ts"
import { byClients } from "../../support/Clients.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"
import { modelNeverAnswers, newReplayUpstream, reset, serverOf } from "../../support/ReplayUpstream.ts"

type Quote = typeof ReplayQuote.Encoded

/** Twice what the outcome needs. */
const many = 200
/** Enough to be asked. */
const few = 40
const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly param: string } }
  return [response.status, error.code, error.param] as const
}

const upstream = newReplayUpstream()

const modelOf = (name: string, price: number, quality: number) => ({
  id: `mine/${name}`,
  upstreamModel: name,
  inputPriceMicroUsdPerMillion: price,
  outputPriceMicroUsdPerMillion: price,
  contextTokens: 32_000,
  outputTokens: 4_000,
  quality
})

describe.each(databaseKinds)("the replay of an analysis on %s", (kind) => {
  const server = serverOf(upstream)
  const node = startsNode(kind, async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const config = join(await mkdtemp(join(tmpdir(), "replay-")), "config.json")
    await writeFile(
      config,
      JSON.stringify({
        providers: [
          {
            id: "mine",
            protocol: "openai-chat",
            baseUrl: `http://127.0.0.1:${port}/v1`,
            models: [
              modelOf("large", 100_000_000, 0.9),
              modelOf("small", 10_000_000, 0.85),
              modelOf("judge", 1_000_000, 0.95)
            ]
          }
        ]
      })
    )
    return { GATEWAY_CONFIG: config }
  })
  let owner: Person
  let operator: Person
  beforeAll(async () => {
    owner = await newPerson(node)
    operator = await operatorOf(node)
  })
  beforeEach(() => reset(upstream))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  /** Conversations of one call each that `auto` has sent to the large model. */
  const analysed = async (conversations: number, replay_allowed = true, parameters: object = {}) => {
    upstream.seen.clear()
    const project = await analysedProject(node, owner, operator, { replay_allowed })
    await byClients(conversations, async (at) => {
      await project.chat({
        ...parameters,
        models: { allow: ["mine/large"] },
        messages: [{ role: "user", content: `Question ${at}: solve for x: 3x + 5 = 20. What is the sum?` }]
      })
    })
    const analysis = await project.analyse()
    upstream.asked = []
    upstream.bodies = []
    return { project, analysis }
  }
  const request = { max_spend_microusd: 5_000_000, judge_model: "mine/judge", candidates: ["mine/small"] }
  const replay = (project: AnalysedProject, { id }: Detail, more: object = {}) =>
    project.ask<Quote>("POST", `/api/analyses/${id}/replay`, { ...request, ...more })
  const gradesOf = ({ id }: AnalysedProject) =>
    node.run(Effect.flatMap(QualityEvidence, (evidence) => evidence.active(ProjectId.make(id))))
  const spentOf = async (project: AnalysedProject) =>
    (await project.ask<{ readonly total_spent_microusd: number }>("GET", `/api/projects/${project.id}`))
      .total_spent_microusd

  it("is quoted first, asks then, and grades the candidate for the router", async () => {
    const { analysis, project } = await analysed(many)
    const { segments } = reportOf(analysis)
    expect(segments.reduce((sum, { calls }) => sum + calls, 0)).toBe(many)
    // nearly all of the prompts are of one class
    const [segment] = segments
    const pairs = segment?.calls ?? 0
    expect(pairs).toBeGreaterThan(0.9 * many)
    expect(segment).toMatchObject({
      served: [{ model: "mine/large", calls: pairs, conversations: pairs, input_tokens: 60 * pairs }],
      questions: []
    })
    const quote = await replay(project, analysis)
    expect(quote).toMatchObject({
      started: false,
      judge_model: "mine/judge",
      questions: [
        {
          class: segment?.class,
          incumbent: "mine/large",
          candidate: "mine/small",
          pairs,
          saving_per_call_microusd: 9_000
        }
      ]
    })
    expect(quote.cost_microusd).toBeGreaterThan(0)
    expect(upstream.asked).toEqual([])

    expect(await replay(project, analysis, { confirm: true })).toEqual({ ...quote, started: true })
    const done = await project.ended(analysis.id)
    expect(done).toMatchObject({ status: "succeeded", error: null })
    const report = reportOf(done)
    expect(report.causes).toEqual(reportOf(analysis).causes)
    const question = report.segments[0]?.questions[0]
    expect(question).toMatchObject({
      verdict: "not_worse",
      incumbent: "mine/large",
      candidate: "mine/small",
      wins: 0,
      losses: 0,
      mean: 0,
      placebo_mean: 0
    })
    expect(question?.sensitivity_lo).toBeGreaterThan(0.5)
    expect(report.method).toMatchObject({ judge: "mine/judge", cost: { basis: "charged" } })
    expect(report.method.cost.amount_microusd).toBeGreaterThan(0)
    expect(report.method.cost.amount_microusd).toBeLessThanOrEqual(request.max_spend_microusd)
    expect(report.actions.map(({ id }) => id)).toContain(`use_cheaper.${segment?.class}`)
    expect(await gradesOf(project)).toMatchObject({
      value: {
        version: 1,
        rows: { [segment?.class ?? ""]: { "mine/small": { n: expect.closeTo(question?.pairs ?? 0, 1) } } }
      }
    })
    expect(
      await codeOf(await owner.send("POST", `/api/analyses/${analysis.id}/replay`, { ...request, confirm: true }))
    ).toEqual([409, "already_exists", null])
  }, 120_000)

  it("lets models reason before they answer and judge", async () => {
    const { analysis, project } = await analysed(many)
    upstream.reasoningTokens = { small: 1_500, judge: 700 }
    await replay(project, analysis, { max_spend_microusd: 90_000_000, confirm: true })
    const [question] = reportOf(await project.ended(analysis.id)).segments[0]?.questions ?? []
    expect(question).toMatchObject({ verdict: "not_worse", losses: 0 })
  }, 120_000)

  it("recommends no candidate that rejects every second prompt", async () => {
    const { analysis, project } = await analysed(many)
    upstream.rejects = (model, at) => model === "small" && at % 2 === 0
    await replay(project, analysis, { confirm: true })
    const report = reportOf(await project.ended(analysis.id))
    const [question] = report.segments[0]?.questions ?? []
    expect(question).toMatchObject({ verdict: "worse", failed: question?.losses, left_out: 0 })
    expect(question?.failed).toBeGreaterThan(0)
    expect(report.actions).toEqual(reportOf(analysis).actions)
  }, 120_000)

  it("asks little of a candidate that cannot be reached, nothing of the model in use beside it, and says so", async () => {
    const { analysis, project } = await analysed(many)
    upstream.isAway = (model) => model === "small"
    await replay(project, analysis, { confirm: true })
    const report = reportOf(await project.ended(analysis.id))
    const [question] = report.segments[0]?.questions ?? []
    expect(question).toMatchObject({ verdict: "insufficient_data", pairs: 0, failed: 0, left_out: 12 })
    expect(upstream.asked).not.toContain("large")
    expect(report.honesty.not_looked_at.at(-1)).toMatch(/all of the first calls for answers of mine\/small failed/)
  }, 120_000)

  it("asks as the client has asked", async () => {
    const parameters = { top_p: 0.2, temperature: 0.1, seed: 7, stop: ["END"], max_tokens: 300 }
    const { analysis, project } = await analysed(few, true, parameters)
    await replay(project, analysis, { confirm: true })
    await project.ended(analysis.id)
    for (const model of ["small", "large"]) {
      const body = upstream.bodies.find((one) => one.model === model)
      expect(body).toMatchObject({ top_p: 0.2, temperature: 0.1, seed: 7, stop: ["END"], max_tokens: 300 })
    }
  }, 120_000)

  it("grades nothing for the router on the word of a judge that finds no planted degradation", async () => {
    const { analysis, project } = await analysed(few - 5)
    upstream.isJudgeClear = false
    await replay(project, analysis, { confirm: true })
    const [question] = reportOf(await project.ended(analysis.id)).segments[0]?.questions ?? []
    expect(question).toMatchObject({ verdict: "insufficient_data", sensitivity_lo: 0, pairs: 0, pairs_needed: null })
    expect(new Set(upstream.asked)).toEqual(new Set(["judge"]))
    expect(await gradesOf(project)).toMatchObject({ _tag: "None" })
  }, 120_000)

  it("is not quoted again for an Idempotency-Key to who may only view the project by now", async () => {
    const { analysis, project } = await analysed(few)
    const member = await newPerson(node)
    const members = `/api/projects/${project.id}/members`
    const quoted = () =>
      member.send("POST", `/api/analyses/${analysis.id}/replay`, request, { "idempotency-key": "viewer" })
    await project.ask("POST", members, { user_id: member.userId, role: "member" })
    expect((await quoted()).status).toBe(200)
    expect((await quoted()).headers.get("idempotent-replayed")).toBe("true")
    await owner.send("DELETE", `${members}?user_id=${member.userId}`)
    await project.ask("POST", members, { user_id: member.userId, role: "viewer" })
    expect((await quoted()).status).toBe(403)
  }, 120_000)

  it("stops at its cap, and says so", async () => {
    const { analysis, project } = await analysed(few)
    const before = await spentOf(project)
    const max_spend_microusd = 100_000
    await replay(project, analysis, { max_spend_microusd, confirm: true })
    const done = await project.ended(analysis.id)
    expect(done.status).toBe("succeeded")
    const report = reportOf(done)
    expect(report.segments[0]?.questions[0]?.verdict).toBe("stopped_by_cap")
    expect(report.method.cost.amount_microusd).toBeLessThanOrEqual(max_spend_microusd)
    expect(await spentOf(project)).toBe(before + report.method.cost.amount_microusd)
  }, 120_000)

  it("calls no more at once than the project's own rate limit lets it", async () => {
    const { analysis, project } = await analysed(few)
    await project.ask("PATCH", `/api/projects/${project.id}`, {
      rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: 1 }
    })
    const reached = modelNeverAnswers(upstream)
    await replay(project, analysis, { confirm: true })
    await reached
    await expect
      .poll(
        () => project.ask<{ readonly items: ReadonlyArray<unknown> }>("GET", `/api/projects/${project.id}/refusals`),
        {
          timeout: 10_000
        }
      )
      .toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ key_name: null })]) })
    expect(upstream.asked.length).toBe(1)
    await project.ask("POST", `/api/analyses/${analysis.id}/cancel`)
    expect((await project.ended(analysis.id)).status).toBe("cancelled")
  }, 120_000)

  it("is cancelled while a model answers: the call is closed, and the report stays", async () => {
    const { analysis, project } = await analysed(few)
    const running = modelNeverAnswers(upstream)
    await replay(project, analysis, { confirm: true })
    await running
    await project.ask("POST", `/api/analyses/${analysis.id}/cancel`)
    const done = await project.ended(analysis.id)
    expect(done.status).toBe("cancelled")
    expect(reportOf(done).causes).toEqual(reportOf(analysis).causes)
    expect(reportOf(done).segments[0]?.questions).toEqual([])
    // one class has enough prompts to be asked
    const asks = reportOf(analysis).segments[0]?.class
    expect(reportOf(done).honesty.not_looked_at).toEqual([
      ...reportOf(analysis).honesty.not_looked_at,
      `whether mine/small would have answered ${asks} prompts as well as mine/large: the replay ended before`
    ])
    expect(upstream.closed).toBeGreaterThan(0)
    const calls = upstream.asked.length
    expect(calls).toBeLessThanOrEqual(4)
    upstream.beforeAnswer = () => Promise.resolve()
    expect(await project.ask("GET", `/api/analyses/${analysis.id}`)).toMatchObject({ status: "cancelled" })
    expect(upstream.asked).toHaveLength(calls)
  }, 120_000)

  it("sends nothing of what is erased while it runs", async () => {
    const { analysis, project } = await analysed(few)
    let answer = () => {}
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve
    })
    upstream.beforeAnswer = () => mayAnswer
    await replay(project, analysis, { confirm: true })
    await expect.poll(() => upstream.asked.length, { timeout: 10_000 }).toBe(4)
    const erased = await project.ask("POST", `/api/projects/${project.id}/capture/erase`, { target: "project" })
    expect(erased).toEqual({ erased: few })
    answer()
    const done = await project.ended(analysis.id)
    expect(done.status).toBe("succeeded")
    expect(reportOf(done).segments[0]?.questions[0]).toMatchObject({ verdict: "insufficient_data", pairs: 0 })
    expect(upstream.asked).toHaveLength(4)
  }, 120_000)

  it("ends with its project: the call is closed, and nothing more is asked or kept", async () => {
    const { analysis, project } = await analysed(few)
    const running = modelNeverAnswers(upstream)
    await replay(project, analysis, { confirm: true })
    await running
    const { items } = await project.ask<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      `/api/projects/${project.id}/keys`
    )
    for (const { id } of items) await project.ask("POST", `/api/keys/${id}/revoke`)
    expect((await owner.send("DELETE", `/api/projects/${project.id}`)).status).toBe(204)
    // long before the lease is looked at again
    await expect.poll(() => upstream.closed, { timeout: 8_000 }).toBeGreaterThan(0)
    expect(upstream.asked.length).toBeLessThanOrEqual(4)
    const kept = Effect.flatMap(SqlClient, (sql) => sql`select from analysis_item where analysis_id = ${analysis.id}`)
    expect(await node.run(kept)).toEqual([])
  }, 120_000)

  it.skipIf(kind === "embedded")(
    "is not started by whoever is no longer of the project meanwhile",
    async () => {
      const { analysis, project } = await analysed(few)
      const member = await newPerson(node)
      await project.ask("POST", `/api/projects/${project.id}/members`, { user_id: member.userId, role: "member" })
      await withOpenTransaction(node.env.DATABASE_URL, async (other) => {
        await other.query("select from project where id = $1 for no key update", [project.id])
        await other.query("delete from project_member where project_id = $1 and user_id = $2", [
          project.id,
          member.userId
        ])
        const sent = member.send("POST", `/api/analyses/${analysis.id}/replay`, { ...request, confirm: true })
        await other.holdsBack(sent)
        await other.commit()
        expect((await sent).status).toBe(404)
      })
      expect(await project.ask("GET", `/api/analyses/${analysis.id}`)).toMatchObject({ status: "succeeded" })
      expect(upstream.asked).toEqual([])
    },
    120_000
  )

  it("runs for one analysis of a project, however many are replayed at once", async () => {
    const { analysis, project } = await analysed(few)
    const analyses = [analysis]
    while (analyses.length < 6) analyses.push(await project.analyse())
    upstream.beforeAnswer = () => new Promise(() => {})
    const statuses = await Promise.all(
      analyses.map(async ({ id }) => {
        const answer = await owner.send("POST", `/api/analyses/${id}/replay`, { ...request, confirm: true })
        return answer.status
      })
    )
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 409, 409, 409, 409, 409])
    const started = analyses[statuses.indexOf(200)]
    await project.ask("POST", `/api/analyses/${started?.id}/cancel`)
    await project.ended(started?.id ?? "")
  }, 120_000)

  it("asks nothing where content may not be sent to other models, nor of a judge of a family that it compares", async () => {
    const { analysis, project } = await analysed(few, false)
    expect((await replay(project, analysis)).questions).toEqual([])
    const refused = await owner.send("POST", `/api/analyses/${analysis.id}/replay`, { ...request, confirm: true })
    expect(await codeOf(refused)).toEqual([400, "invalid_value", "candidates"])
    const allowed = await analysed(few)
    const judged = { ...request, judge_model: "mine/small", confirm: true }
    const compared = await owner.send("POST", `/api/analyses/${allowed.analysis.id}/replay`, judged)
    expect(await codeOf(compared)).toEqual([400, "invalid_value", "judge_model"])
    expect(upstream.asked).toEqual([])
  }, 120_000)
})
