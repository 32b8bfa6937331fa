import { beforeAll, describe, expect, it } from "vitest"
import type { RouteOut } from "../../../src/wire/account/Route.ts"
import { databaseKinds, sendTo, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"
import { testKey } from "../../support/Service.ts"

interface Answer {
  readonly router_metadata: {
    readonly model: string
    readonly cost: { readonly amount_microusd: number }
    readonly excluded: Readonly<Record<string, number>>
  }
  readonly choices?: ReadonlyArray<{ readonly finish_reason: string }>
  readonly status?: string
  readonly stop_reason?: string
}

const said = "Repeat after me: ".repeat(20)

/** A body for each of the formats, and how it says that its answer was cut. */
const endpoints: ReadonlyArray<readonly [path: string, body: object, isCut: (answer: Answer) => boolean]> = [
  [
    "/v1/chat/completions",
    { messages: [{ role: "user", content: said }] },
    ({ choices }) => choices?.[0]?.finish_reason === "length"
  ],
  ["/v1/responses", { input: said }, ({ status }) => status === "incomplete"],
  [
    "/v1/messages",
    { messages: [{ role: "user", content: said }], max_tokens: 5_000 },
    ({ stop_reason }) => stop_reason === "max_tokens"
  ]
]

describe.each(databaseKinds)("max_cost_microusd on %s", (kind) => {
  const node = startsNode(kind)
  let call: ReturnType<typeof sendTo>
  beforeAll(async () => {
    call = sendTo(node.url, { authorization: `Bearer ${testKey}` })
  })

  it.each(endpoints)(
    "bounds what a call of %s costs, by a shorter answer or by another model",
    async (path, body, isCut) => {
      const answerOf = async (more: object) => jsonOf<Answer>(await call("POST", path, { ...body, ...more }))
      const free = await answerOf({ model: "sim/best" })
      const full = free.router_metadata.cost.amount_microusd
      expect(isCut(free)).toBe(false)
      // what the prompt is bounded by counts beside what it costs in the end
      const cut = await answerOf({ model: "sim/best", max_cost_microusd: full })
      expect(isCut(cut)).toBe(true)
      expect(cut.router_metadata.cost.amount_microusd).toBeLessThanOrEqual(full)
      const other = await answerOf({ model: "auto", alpha: 1, max_cost_microusd: full })
      expect(other.router_metadata.model).not.toBe(free.router_metadata.model)
      expect(other.router_metadata.cost.amount_microusd).toBeLessThanOrEqual(full)
      expect(other.router_metadata.excluded["request_max_cost"]).toBeGreaterThan(0)
      const ample = await answerOf({ model: "sim/best", max_cost_microusd: 10_000_000 })
      expect(ample.router_metadata.cost.amount_microusd).toBe(full)
      const refused = await call("POST", path, { ...body, model: "auto", max_cost_microusd: 0 })
      expect([refused.status, JSON.stringify(await refused.json())]).toEqual([
        400,
        expect.stringContaining("max_cost_microusd")
      ])
    }
  )

  it("is the most that a preview names for any candidate", async () => {
    const body = { messages: [{ role: "user", content: said }], model: "auto", max_cost_microusd: 20_000 }
    const { candidates } = await jsonOf<typeof RouteOut.Encoded>(await call("POST", "/v1/route", body))
    expect(candidates.length).toBeGreaterThan(1)
    for (const { max_cost_microusd } of candidates) expect(max_cost_microusd).toBeLessThanOrEqual(20_000)
  })

  it.each([-1, 1.5, "1"])("is no %s", async (max_cost_microusd) => {
    const body = { messages: [{ role: "user", content: said }], model: "auto", max_cost_microusd }
    expect((await call("POST", "/v1/chat/completions", body)).status).toBe(400)
  })
})
