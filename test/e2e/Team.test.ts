import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, operatorOf, type Person, sendTo } from "../support/AccountService.ts"
import { keyLimit, maxCalls, model, operatorSecret, ownSecret, startTeamNode, type TeamNode } from "./TeamNode.ts"

interface Key {
  readonly id: string
  readonly api_key: string
}
interface KeyStatus {
  readonly total_spent_microusd: number
}
interface Activity {
  readonly summary: { readonly requests_24h: number; readonly spend_24h_microusd: number }
  readonly timeseries: ReadonlyArray<{ readonly spend_microusd: number }>
}
interface Balance {
  readonly credited_microusd: number
  readonly spent_microusd: number
  readonly held_microusd: number
  readonly available_microusd: number
}

/** What a team does in its first hour, by requests alone. The steps build on each other. */
describe.each(databaseKinds)("a team on %s", (kind) => {
  let team: TeamNode
  let owner: Person
  let project: string
  let key: Key
  beforeAll(async () => {
    team = await startTeamNode(kind)
    owner = await operatorOf(team.node)
  }, 120_000)
  afterAll(() => team.stop())

  const ok = async <A>(method: string, path: string, body?: object): Promise<A> => {
    const response = await owner.send(method, path, body)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as A
  }
  const chat = (name: string = model.id) =>
    sendTo(team.node.url, { authorization: `Bearer ${key.api_key}` })("POST", "/v1/chat/completions", {
      model: name,
      max_tokens: 5,
      messages: [{ role: "user", content: "hello" }]
    })
  const activity = async () => {
    await team.flushed()
    return ok<Activity>("GET", `/api/projects/${project}/activity`)
  }
  const balance = async () => {
    await team.flushed()
    return ok<Balance>("GET", "/api/me/balance")
  }

  it("creates a project and a key with a limit", async () => {
    project = (await ok<{ readonly id: string }>("POST", "/api/me/projects", { name: "search" })).id
    key = await ok<Key>("POST", `/api/projects/${project}/keys`, {
      name: "backend",
      spend_limit_microusd: keyLimit
    })
    expect(key.api_key).toMatch(/^mrg_sk_/)
  })

  it("allows only some models", async () => {
    await ok("PUT", `/api/projects/${project}/policy`, { allowed_models: ["acme/*"] })
    const excluded = await chat("sim/swift")
    expect([excluded.status, await excluded.json()]).toMatchObject([404, { error: { code: "model_not_found" } }])
  })

  it("calls until the limit of its key is reached, and goes on when it is raised", async () => {
    let calls = 0
    let last = await chat()
    while (last.status === 200 && calls < maxCalls) {
      calls++
      last = await chat()
    }
    expect(calls).toBeGreaterThan(0)
    expect([last.status, await last.json()]).toMatchObject([
      402,
      { error: { code: "spend_limit_exceeded", metadata: { scope: "key" } } }
    ])
    await ok("PATCH", `/api/keys/${key.id}`, { spend_limit_microusd: 100 * keyLimit })
    expect((await chat()).status).toBe(200)
  })

  it("sees in its activity what the ledger has charged, to the micro-dollar", async () => {
    const { summary, timeseries } = await activity()
    const { total_spent_microusd } = await ok<KeyStatus>("GET", `/api/keys/${key.id}`)
    const { spent_microusd } = await balance()
    expect(summary.spend_24h_microusd).toBeGreaterThan(0)
    expect(summary.spend_24h_microusd).toBe(total_spent_microusd)
    expect(summary.spend_24h_microusd).toBe(spent_microusd)
    expect(timeseries.reduce((sum, point) => sum + point.spend_microusd, 0)).toBe(spent_microusd)
    expect(summary.requests_24h).toBe(team.upstream.requests.length)
  })

  it("tops its balance up by the local checkout", async () => {
    const before = await balance()
    const { checkout_url, session_id } = await ok<{ readonly checkout_url: string; readonly session_id: string }>(
      "POST",
      "/api/me/checkout",
      { credit_amount_cents: 2_000 }
    )
    const paid = await fetch(`${checkout_url}&action=pay`, { method: "POST", redirect: "manual" })
    expect(paid.status).toBe(303)
    expect(await ok("GET", `/api/me/checkout/${session_id}`)).toMatchObject({
      status: "credited",
      credited_amount_microusd: 20_000_000
    })
    const after = await balance()
    expect(after.credited_microusd - before.credited_microusd).toBe(20_000_000)
    expect(after.available_microusd - before.available_microusd).toBe(20_000_000)
  })

  it("pays with a credential of its own, at no cost to its balance", async () => {
    expect(team.upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${operatorSecret}`)
    await ok("POST", `/api/projects/${project}/credentials`, { provider: "acme", label: "ours", secret: ownSecret })
    await ok("PUT", `/api/projects/${project}/billing-mode`, { billing_mode: "byok" })
    const before = await balance()
    const response = await chat()
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { router_metadata: { cost: { basis: "estimated" } } }
    ])
    expect(team.upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${ownSecret}`)
    expect(await balance()).toEqual(before)
    expect(await team.violations()).toEqual([])
  })
})
