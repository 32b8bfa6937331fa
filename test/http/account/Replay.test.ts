import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import type { PolicySimulationOut } from "../../../src/wire/account/Policy.ts"
import type { AlphaCurveOut } from "../../../src/wire/account/Replay.ts"
import { databaseKinds, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"
import { testKey } from "../../support/Service.ts"

/** Requests that the replay of features alone has to decide as they were decided from their text. */
const requests: ReadonlyArray<Record<string, unknown>> = [
  { messages: [{ role: "user", content: "Write a function that reverses a linked list." }] },
  { messages: [{ role: "user", content: "Hello!" }], alpha: 0 },
  { messages: [{ role: "user", content: "Hello!" }], alpha: 1, models: { deny: ["sim/best"] } },
  { messages: [{ role: "user", content: "What is 17 times 23?" }], alpha: 1, provider: { allow: ["sim2"] } },
  { messages: [{ role: "user", content: "Hello!" }], max_output_price_microusd_per_million: 1_000_000, alpha: 1 },
  { messages: [{ role: "user", content: "Hello!" }], model: "auto:narrow", alpha: 1 }
]

describe.each(databaseKinds)("past calls on %s", (kind) => {
  const node = startsNode(kind)
  let operator: Person
  let project: string
  const answered: Array<string> = []

  beforeAll(async () => {
    operator = await operatorOf(node)
    project = (await jsonOf<{ readonly default_project_id: string }>(await operator.send("GET", "/api/me")))
      .default_project_id
    const made = await operator.send("POST", `/api/projects/${project}/routing-configurations`, {
      slug: "narrow",
      models: ["sim/small", "sim/fast"]
    })
    expect(made.status).toBe(201)
    const call = sendTo(node.url, { authorization: `Bearer ${testKey}` })
    for (const request of requests) {
      const response = await call("POST", "/v1/chat/completions", { model: "auto", ...request })
      expect(response.status).toBe(200)
      answered.push((await jsonOf<{ readonly model: string }>(response)).model)
    }
    // a call that names its model is not ranked again
    await call("POST", "/v1/chat/completions", { ...requests[0], model: "sim/fast" })
    await node.run(Effect.flatMap(Ledger, ({ flushed }) => flushed))
  }, 120_000)

  const curve = async (query = "") =>
    jsonOf<typeof AlphaCurveOut.Encoded>(await operator.send("GET", `/api/projects/${project}/alpha-curve${query}`))
  const countsOf = (models: ReadonlyArray<string>) =>
    [...new Set(models)].map((model) => ({ model, count: models.filter((one) => one === model).length }))
  const byModel = <A extends { readonly model: string }>(rows: ReadonlyArray<A>) =>
    [...rows].sort((a, b) => (a.model < b.model ? -1 : 1))

  it("are ranked again at the alpha that was theirs, to the models that have answered", async () => {
    const { current, ...found } = await curve()
    expect(found).toMatchObject({ calls: requests.length, skipped: 0, default_alpha: 0.65 })
    expect(found.charged_microusd).toBeGreaterThan(0)
    expect(byModel(current.models)).toEqual(byModel(countsOf(answered)))
    expect(new Date(found.from ?? 0).getTime()).toBeLessThanOrEqual(new Date(found.to ?? 0).getTime())
  })

  it("cost no less, and are no worse, at a higher alpha", async () => {
    const { points } = await curve()
    expect(points.map(({ alpha }) => alpha)).toEqual(Array.from({ length: 21 }, (_, at) => at / 20))
    const [first, last] = [points[0], points[20]]
    points.reduce((before, after) => {
      expect(after.expected_cost_microusd).toBeGreaterThanOrEqual(before.expected_cost_microusd)
      expect(after.expected_quality ?? 0).toBeGreaterThanOrEqual((before.expected_quality ?? 0) - 1e-9)
      return after
    })
    expect(last?.expected_cost_microusd).toBeGreaterThan(first?.expected_cost_microusd ?? 0)
    expect(last?.expected_quality).toBeGreaterThan(first?.expected_quality ?? 1)
    // what a request restricts by itself holds at any alpha
    expect(points.every(({ models }) => models.some(({ model }) => model.startsWith("sim2/")))).toBe(true)
  })

  it("are as many as asked for, the newest", async () => {
    const newest = await curve("?calls=1")
    expect(newest).toMatchObject({ calls: 1, current: { models: [{ model: answered.at(-1), count: 1 }] } })
    const refused = await operator.send("GET", `/api/projects/${project}/alpha-curve?calls=2001`)
    expect(refused.status).toBe(400)
  })

  it("are ranked by the current policy and by the one that is simulated", async () => {
    const simulate = async (body: unknown) =>
      (
        await jsonOf<typeof PolicySimulationOut.Encoded>(
          await operator.send("POST", `/api/projects/${project}/policy/simulate`, body)
        )
      ).replay
    const same = await simulate({})
    expect(same).toMatchObject({ calls: requests.length, changed: 0 })
    expect(same.after).toEqual(same.before)
    const cheapest = await simulate({ default_alpha: 0 })
    // one request says nothing of alpha
    expect(cheapest.changed).toBe(1)
    expect(cheapest.after.expected_cost_microusd).toBeLessThan(cheapest.before.expected_cost_microusd)
    expect(cheapest.by_alpha).toHaveLength(11)
    for (const { after, before } of cheapest.by_alpha) expect(after).toEqual(before)
    const none = await simulate({ allowed_models: ["sim2/*"] })
    const { after } = none
    // the routing configuration has models of another provider, and the price cap only they meet
    expect(after.without_model).toBe(2)
    expect(after.models.every(({ model }) => model.startsWith("sim2/"))).toBe(true)
    expect((await simulate({ allowed_models: [] })).after).toEqual({
      expected_cost_microusd: 0,
      expected_quality: null,
      without_model: requests.length,
      models: []
    })
  })

  it("are skipped once their routing configuration is gone", async () => {
    const path = `/api/projects/${project}/routing-configurations/narrow`
    expect((await operator.send("DELETE", path)).status).toBe(204)
    expect(await curve()).toMatchObject({ calls: requests.length - 1, skipped: 1 })
  })
})
