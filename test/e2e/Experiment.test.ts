import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { conversationOf } from "../../src/domain/Conversation.ts"
import { type Arm, armOf } from "../../src/domain/HoldOut.ts"
import { ProjectId } from "../../src/domain/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { ActionPreview } from "../../src/wire/account/AnalysisActions.ts"
import {
  type AccountNode,
  databaseKinds,
  newPerson,
  openDatabase,
  operatorOf,
  type Person,
  sendTo,
  startNode
} from "../support/AccountService.ts"
import { type AnalysedProject, analysedProject, type Detail, reportOf } from "../support/AnalysisProject.ts"
import { byClients } from "../support/Clients.ts"
import { whenSeen } from "../support/WhenSeen.ts"

type Preview = typeof ActionPreview.Encoded
interface Policy {
  readonly default_alpha: number | null
}

const dearest = "sim/best"
const conversations = 80

describe.each(databaseKinds)("a change that conversations are held out of, on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let nodes: ReadonlyArray<AccountNode>
  let node: AccountNode
  let owner: Person
  let project: AnalysedProject
  let key: string
  let analysis: Detail

  beforeAll(async () => {
    const config = join(await mkdtemp(join(tmpdir(), "experiment-")), "config.json")
    // answers that are as good cost a fraction
    await writeFile(config, JSON.stringify({ models: { "sim/balanced": { quality: 0.87 } } }))
    database = await openDatabase(kind)
    const env = { ...database.env, SIMULATED_PROVIDERS: "on", GATEWAY_CONFIG: config }
    node = await startNode(env)
    // the embedded database belongs to one process
    nodes = kind === "embedded" ? [node] : [node, await startNode(env)]
    owner = await newPerson(node)
    project = await analysedProject(node, owner, await operatorOf(node))
    const made = await project.ask<{ readonly api_key: string }>("POST", `/api/projects/${project.id}/keys`, {
      name: "two"
    })
    key = made.api_key
    await project.ask("POST", `/api/projects/${project.id}/routing-configurations`, { slug: "dear-one", alpha: 1 })
    await project.ask("PUT", `/api/projects/${project.id}/policy`, { default_alpha: 1 })
    await byClients(32, async (at) => {
      expect(await call(node, `before ${at}`)).toBe(dearest)
      expect(await call(node, `before too ${at}`, "auto:dear-one")).toBe(dearest)
    })
    analysis = await project.analyse()
  }, 120_000)
  afterAll(async () => {
    for (const each of nodes) await each.stop()
    await database.close()
  })

  const call = async (at: AccountNode, conversation: string, model = "auto", turn = 0) => {
    const response = await sendTo(at.url, { authorization: `Bearer ${key}` })("POST", "/v1/chat/completions", {
      model,
      prompt_cache_key: conversation,
      messages: [{ role: "user", content: `Hello, ${conversation}!${" And what else?".repeat(turn)}` }]
    })
    const answer = (await response.json()) as { readonly model: string }
    expect([response.status, response.status === 200 ? null : answer]).toEqual([200, null])
    return answer.model
  }
  const pathOf = (action: string, step: string) => `/api/analyses/${analysis.id}/actions/${action}/${step}`
  const apply = async (action: string, canary: object | undefined) => {
    const { config_version } = await project.ask<Preview>("POST", pathOf(action, "preview"))
    return owner.send("POST", pathOf(action, "apply"), { config_version, ...(canary !== undefined && { canary }) })
  }
  const applied = async (action: string, canary: object) => {
    const response = await apply(action, canary)
    const detail = (await response.json()) as Detail
    await lookLater()
    expect([response.status, response.status === 200 ? null : detail]).toEqual([200, null])
    return receiptIn(detail, action)
  }
  const receiptIn = (detail: Detail, action: string) => {
    const receipt = reportOf(detail).actions.find(({ id }) => id === action)?.receipt
    if (receipt == null) throw new Error("the action has no receipt")
    return receipt
  }
  const receiptOf = async (action: string) =>
    receiptIn(await project.ask<Detail>("GET", `/api/analyses/${analysis.id}`), action)
  const policyOf = () => project.ask<Policy>("GET", `/api/projects/${project.id}/policy`)
  /** Only `look` makes a look due from now on. */
  const lookLater = () =>
    node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`update experiment set look_at = now() + interval '1 day' where state = 'running'`
      )
    )
  /** Makes the next look due, once everything that was called is written. */
  const look = async (over = false) => {
    for (const each of nodes) await each.run(Effect.flatMap(Ledger, ({ flushed }) => flushed))
    await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) =>
          sql`update experiment set look_at = now(), ends_at = case when ${over} then now() else ends_at end where state = 'running'`
      )
    )
  }
  const hashOf = (conversation: string) =>
    conversationOf(ProjectId.make(project.id), { messages: [], promptCacheKey: conversation, user: undefined })
  const armOfConversation = (id: string, share: number, conversation: string): Arm =>
    armOf({ id, share }, hashOf(conversation))

  const lowerAlpha = (action: string) => {
    const patch = reportOf(analysis).actions.find(({ id }) => id === action)?.patch
    const body = patch !== undefined && "body" in patch ? patch.body : {}
    return "alpha" in body ? body.alpha : "default_alpha" in body ? body.default_alpha : undefined
  }
  /** The alphas that the calls of each arm have had, whichever node has taken them. */
  const alphasOf = async (id: string, share: number, name: string) => {
    const rows = await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) =>
          sql<{
            readonly conversation: string
            readonly alpha: number
          }>`select encode(conversation, 'hex') as conversation, alpha from call where project_id = ${project.id}`
      )
    )
    const alphas = { treated: new Set<number>(), held_out: new Set<number>() }
    for (let at = 0; at < conversations; at++) {
      const own = rows.filter(({ conversation }) => conversation === hashOf(`${name} ${at}`))
      expect(own.length).toBeGreaterThan(0)
      for (const { alpha } of own) alphas[armOfConversation(id, share, `${name} ${at}`)].add(alpha)
    }
    return { treated: [...alphas.treated], held_out: [...alphas.held_out] }
  }

  it("divides them alike on each node, is reverted when the guards show harm, and says so", async () => {
    const share = 0.5
    const receipt = await applied("lower_alpha", { share, days: 7 })
    expect(receipt).toMatchObject({ state: "running", share, reason: null, e_value: 1, guards: [] })
    const second = await apply("lower_alpha.dear-one", { share, days: 7 })
    expect([second.status, await second.json()]).toMatchObject([409, { error: { code: "already_exists" } }])
    // what could not be held out was not applied
    expect(await project.ask("GET", `/api/projects/${project.id}/routing-configurations/dear-one`)).toMatchObject({
      alpha: 1
    })
    expect((await apply("lower_alpha", { share, days: 7 })).status).toBe(200)

    const counts = { treated: 0, held_out: 0 }
    await byClients(conversations, async (at) => {
      const conversation = `during ${at}`
      const arm = armOfConversation(receipt.experiment_id, share, conversation)
      counts[arm] += 1
      for (const [turn, each] of nodes.entries()) await call(each, conversation, "auto", turn)
      // its client is not content with the answer
      if (arm === "treated") await call(node, conversation, "auto", nodes.length - 1)
    })
    await look()
    expect(await alphasOf(receipt.experiment_id, share, "during")).toEqual({
      treated: [lowerAlpha("lower_alpha")],
      held_out: [1]
    })
    const reverted = await whenSeen(
      () => receiptOf("lower_alpha"),
      ({ state }) => state !== "running"
    )
    expect(reverted).toMatchObject({
      state: "reverted",
      reason: expect.stringContaining("retries"),
      conversations: counts
    })
    expect(reverted.e_value).toBeGreaterThanOrEqual(reverted.revert_at_e_value)
    expect(reverted.guards.find(({ guard }) => guard === "retries")).toMatchObject({ treated: 1, held_out: 0 })
    expect(reverted.guards.find(({ guard }) => guard === "errors")).toMatchObject({ treated: 0, held_out: 0 })
    expect(reverted.saved_per_conversation_microusd).toBeGreaterThan(0)

    expect((await policyOf()).default_alpha).toBe(1)
    for (const each of nodes) {
      for (let at = 0; at < 5; at++) {
        expect(
          await whenSeen(
            () => call(each, `after ${at}`),
            (model) => model === dearest
          )
        ).toBe(dearest)
      }
    }
    const { actions_taken } = await project.ask<Detail>("GET", `/api/analyses/${analysis.id}`)
    expect(actions_taken.find(({ action_id }) => action_id === "lower_alpha")?.undone_at).not.toBeNull()
    const log = await project.ask<{
      readonly items: ReadonlyArray<{ readonly action: string; readonly actor_user_id: string | null }>
    }>("GET", "/api/audit?limit=5")
    expect(log.items.filter(({ action }) => action === "analysis.action.revert")).toHaveLength(1)
    expect(reportOf(await project.analyse()).honesty.past_receipts).toEqual({ n: 0, realised_over_estimated: null })
  }, 180_000)

  it("ends after its days for all conversations, and the next report shows what it came to", async () => {
    const share = 0.5
    const { experiment_id } = await applied("lower_alpha.dear-one", { share, days: 1 })
    const counts = { treated: 0, held_out: 0 }
    await byClients(conversations, async (at) => {
      const conversation = `good ${at}`
      const arm = armOfConversation(experiment_id, share, conversation)
      counts[arm] += 1
      await call(node, conversation, "auto:dear-one")
    })
    await look(true)
    expect(await alphasOf(experiment_id, share, "good")).toEqual({
      treated: [lowerAlpha("lower_alpha.dear-one")],
      held_out: [1]
    })
    const final = await whenSeen(
      () => receiptOf("lower_alpha.dear-one"),
      ({ state }) => state !== "running"
    )
    expect(final).toMatchObject({ state: "final", reason: "The hold-out period has ended.", conversations: counts })
    expect(final.e_value).toBeLessThan(final.revert_at_e_value)
    expect(final.saved_at_least_microusd).not.toBeNull()
    expect(final.estimated_per_conversation_microusd).toBeGreaterThan(0)
    expect(final.realised_over_estimated).toBeGreaterThan(0)
    const later = Array.from({ length: conversations }, (_, at) => `later ${at}`)
    const [next] = later.filter((each) => armOfConversation(experiment_id, share, each) === "held_out")
    expect(await call(node, next ?? "", "auto:dear-one")).not.toBe(dearest)
    const { honesty } = reportOf(await project.analyse())
    expect(honesty.past_receipts).toEqual({ n: 1, realised_over_estimated: final.realised_over_estimated })
  }, 180_000)
})
