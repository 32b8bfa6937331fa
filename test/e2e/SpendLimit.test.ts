import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Agent, request } from "undici"
import { describe, expect, it } from "vitest"
import { LoadShedding } from "../../src/http/overload/LoadShedding.ts"
import { LedgerLayer } from "../../src/ledger/Ledger.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { databases } from "../ledger/databases.ts"
import { model } from "../provider/protocols/calls.ts"
import { caller, callerKey, type InProcess, startInProcess } from "../support/InProcess.ts"
import { start as startUpstream } from "../support/Upstream.ts"

const callCount = 1_000
const fitting = 200
/** After so many answers the ledger is checked. */
const sampledEvery = 25

/** A thousand connections on a machine that may be busy. */
const testMillis = 120_000

/** No call waits too long by a clock that stands still: on a busy machine some of a thousand would be shed, rightly. */
const neverOverloaded = LoadShedding.layer.pipe(Layer.provide(VirtualTimers.layerOf(VirtualTimers.make())))

/** With a free prompt and a cap of 100 tokens at this price a hold is exactly this much. */
const holdMicroUsd = 1_000
const prices = { input: 0, output: 10_000_000, cacheRead: null, cacheWrite: null, tiers: [] }
const limitMicroUsd = fitting * holdMicroUsd

const limits = [
  ["key", null, limitMicroUsd, "spend_limit_exceeded"],
  ["account", limitMicroUsd, null, "insufficient_balance"]
] as const

const open = (creditMicroUsd: number | null, keyLimitMicroUsd: number | null) =>
  Effect.gen(function* () {
    const scopes = yield* Scopes
    yield* scopes.open("account", caller.accountId, null)
    yield* scopes.open("project", caller.projectId, null)
    yield* scopes.open("key", caller.keyId, keyLimitMicroUsd)
    yield* scopes.credit(caller.accountId, creditMicroUsd ?? 1_000_000_000, "test")
  })

describe.each(databases)("%s: a thousand calls at once", { timeout: testMillis }, (_, database) => {
  it.each(limits)(
    "on a %s limit for two hundred dispatch exactly two hundred",
    async (scope, credit, keyLimit, code) => {
      const upstream = await startUpstream()
      const gateway = await startInProcess({
        origins: { one: upstream.baseUrl },
        models: [model({ id: "one/held", providerId: "one", upstreamModel: "held", alias: "held", prices })],
        ledger: LedgerLayer().pipe(Layer.provide(database)),
        openScopes: open(credit, keyLimit),
        loadShedding: neverOverloaded,
        deadlines: { plainAnswerMillis: testMillis }
      })
      const client = new Agent({ connections: callCount, pipelining: 1 })
      const samples: Array<Promise<number>> = []
      let [refused, settled] = [0, 0]
      let allRefused: () => void = () => {}
      const refusedAll = new Promise<void>((resolve) => {
        allRefused = resolve
      })
      const calls = Array.from({ length: callCount }, async () => {
        const { statusCode, headers, body } = await request(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          dispatcher: client,
          headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json" },
          body: JSON.stringify({
            model: "one/held",
            max_completion_tokens: 100,
            messages: [{ role: "user", content: "hi" }]
          })
        })
        const answer = (await body.json()) as { readonly error?: { readonly code: string; readonly metadata: unknown } }
        if (statusCode === 402) {
          if (++refused % sampledEvery === 0) samples.push(sample(gateway))
        } else if (++settled % sampledEvery === 0) samples.push(sample(gateway))
        if (refused + settled === callCount - fitting) allRefused()
        return { statusCode, retryAfter: headers["retry-after"], error: answer.error }
      })
      await refusedAll
      await upstream.received(fitting)
      expect(await gateway.held()).toBe(limitMicroUsd)
      upstream.release()
      const answers = await Promise.all(calls)
      expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(fitting)
      const others = answers.filter((answer) => answer.statusCode !== 200)
      expect(others).toHaveLength(callCount - fitting)
      for (const { error, retryAfter, statusCode } of others) {
        expect([statusCode, error?.code, error?.metadata]).toMatchObject([402, code, { reason: "held", scope }])
        expect(Number(retryAfter)).toBeGreaterThanOrEqual(1)
      }
      expect(upstream.requests).toHaveLength(fitting)
      expect(samples).toHaveLength(callCount / sampledEvery)
      expect((await Promise.all(samples)).filter((total) => total > limitMicroUsd)).toEqual([])
      expect(await gateway.audit()).toEqual([])
      expect(await gateway.held()).toBe(0)
      // one word of an answer, at 10 micro-USD a token
      expect(await gateway.spent()).toBe(fitting * 10)
      await client.destroy()
      await gateway.stop()
      await upstream.stop()
    }
  )
})

/** What the limited scope holds and has spent at this moment. */
const sample = async (gateway: InProcess): Promise<number> => {
  const states = await gateway.run(
    Effect.flatMap(Scopes, (scopes) => Effect.all([scopes.read(caller.keyId), scopes.read(caller.accountId)]))
  )
  const limited = states.flatMap((state) =>
    state._tag === "Some" && state.value.limitMicroUsd === limitMicroUsd ? [state.value] : []
  )
  return limited.reduce((sum, state) => sum + state.heldMicroUsd + state.spentMicroUsd, 0)
}
