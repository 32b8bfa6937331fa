import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { CredentialRequired } from "../../src/domain/AccountError.ts"
import { makeAccountClient } from "../../src/index.ts"
import { codeAtStart, databaseKinds, sendTo } from "../support/AccountService.ts"
import { keyLimit, maxCalls, model, ownSecret, startTeamNode, type TeamNode } from "./TeamNode.ts"

const noHeaders = { headers: {} }

describe.each(databaseKinds)("a team with the typed client on %s", (kind) => {
  let team: TeamNode
  beforeAll(async () => {
    team = await startTeamNode(kind)
  }, 120_000)
  afterAll(() => team.stop())

  const signIn = Effect.gen(function* () {
    const code = yield* Effect.promise(() => codeAtStart(team.node))
    const stranger = yield* makeAccountClient({ baseUrl: team.node.url })
    const session = yield* stranger.session.createSession({ payload: { code, transport: "bearer" } })
    if (!("token" in session)) return yield* Effect.dieMessage("a bearer session has a token")
    return yield* makeAccountClient({ baseUrl: team.node.url, token: Redacted.make(session.token) })
  })

  it("signs in, spends up to a limit, tops up and changes to its own credential, each amount as in the ledger", async () => {
    await Effect.gen(function* () {
      const client = yield* signIn
      const flushed = Effect.promise(team.flushed)
      const balance = Effect.zipRight(flushed, client.billing.getBalance())

      const { id } = yield* client.projects.createMyProject({ payload: { name: "search" }, ...noHeaders })
      const path = { id }
      const key = yield* client.keys.createKey({
        path,
        payload: { name: "backend", spend_limit_microusd: keyLimit },
        ...noHeaders
      })
      const open = yield* client.policy.getPolicy({ path })
      const policy = yield* client.policy.putPolicy({
        path,
        payload: {
          allowed_models: ["acme/*"],
          excluded_models: open.excluded_models,
          allowed_providers: open.allowed_providers,
          excluded_providers: open.excluded_providers,
          default_alpha: open.default_alpha,
          exploration_share: open.exploration_share,
          max_input_price_microusd_per_million: open.max_input_price_microusd_per_million,
          max_output_price_microusd_per_million: open.max_output_price_microusd_per_million,
          enable_fallback: open.enable_fallback
        },
        ...noHeaders
      })
      expect([open.allowed_models, policy.allowed_models]).toEqual([null, ["acme/*"]])
      const chat = (name: string = model.id) =>
        Effect.promise(async () => {
          const send = sendTo(team.node.url, { authorization: `Bearer ${key.api_key}` })
          const messages = [{ role: "user", content: "hello" }]
          const response = await send("POST", "/v1/chat/completions", { model: name, max_tokens: 5, messages })
          return { status: response.status, body: (await response.json()) as object }
        })
      expect((yield* chat("sim/swift")).status).toBe(404)

      let calls = 0
      let last = yield* chat()
      for (; last.status === 200 && calls < maxCalls; last = yield* chat()) calls++
      expect(calls).toBeGreaterThan(0)
      expect(last).toMatchObject({ status: 402, body: { error: { code: "spend_limit_exceeded" } } })
      yield* client.keys.updateKey({
        path: { id: key.id },
        payload: { spend_limit_microusd: 100 * keyLimit },
        ...noHeaders
      })
      expect((yield* chat()).status).toBe(200)

      const spent = (yield* balance).spent_microusd
      const activity = yield* client.activity.getActivity({ path, urlParams: { days: 1, granularity: "day" } })
      expect(spent).toBeGreaterThan(0)
      expect(activity.summary.spend_24h_microusd).toBe(spent)
      expect(activity.summary.requests_24h).toBe(calls + 1)
      expect((yield* client.keys.getKey({ path: { id: key.id } })).total_spent_microusd).toBe(spent)

      const before = yield* balance
      const checkout = yield* client.payments.createCheckout({ payload: { credit_amount_cents: 2_000 }, ...noHeaders })
      yield* Effect.promise(() => fetch(`${checkout.checkout_url}&action=pay`, { method: "POST", redirect: "manual" }))
      const paid = yield* client.payments.getCheckout({ path: { session_id: checkout.session_id } })
      expect(paid).toMatchObject({ status: "credited", credited_amount_microusd: 20_000_000 })
      const after = yield* balance
      expect(after.available_microusd - before.available_microusd).toBe(20_000_000)

      const byok = client.credentials.setBillingMode({ path, payload: { billing_mode: "byok" }, ...noHeaders })
      expect(yield* Effect.flip(byok)).toBeInstanceOf(CredentialRequired)
      yield* client.credentials.createCredential({
        path,
        payload: { provider: "acme", label: "ours", secret: Redacted.make(ownSecret) },
        ...noHeaders
      })
      yield* byok
      expect(yield* chat()).toMatchObject({ status: 200, body: { router_metadata: { cost: { basis: "estimated" } } } })
      expect(team.upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${ownSecret}`)
      expect(yield* balance).toEqual(after)
      expect(yield* Effect.promise(team.violations)).toEqual([])
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.runPromise)
  }, 60_000)
})
