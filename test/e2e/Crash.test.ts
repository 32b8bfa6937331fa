import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import * as Recovery from "../../src/ledger/Recovery.ts"
import { RecoveryStore } from "../../src/ledger/RecoveryStore.ts"
import { StoreHealth } from "../../src/ledger/StoreHealth.ts"
import { freshDatabase, postgresServer } from "../ledger/databases.ts"
import { databaseAt, ledgerRows } from "../support/LedgerRows.ts"
import { type Service, startService } from "../support/Service.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.stop())

const names = ["ok", "held", "held-mid"] as const
const waitingCalls = 20
const busyCallers = 8
/** Calls that are answered before the crash, at least. */
const answered = 40

const start = (where: { readonly dataDir?: string; readonly databaseUrl?: string }): Promise<Service> =>
  startService({
    ...(where.dataDir === undefined ? {} : { dataDir: where.dataDir }),
    env: where.databaseUrl === undefined ? {} : { DATABASE_URL: where.databaseUrl },
    config: {
      providers: [
        {
          id: "one",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          models: names.map((name) => ({
            id: `one/${name}`,
            inputPriceMicroUsdPerMillion: 1_000_000,
            outputPriceMicroUsdPerMillion: 2_000_000,
            contextTokens: 100_000,
            outputTokens: 4_000
          }))
        }
      ]
    }
  })

/** Kills the service while calls wait, stream, begin and end. */
const crashUnderLoad = async (service: Service): Promise<void> => {
  const before = upstream.requests.length
  const ask = async (model: (typeof names)[number], stream: boolean) => {
    const body = { model: `one/${model}`, stream, messages: [{ role: "user", content: "hi" }] }
    const answer = service.post("/v1/chat/completions", body).then((response) => response.text())
    // the crash breaks some of them
    await answer.catch(() => {})
  }
  let crashed = false
  const waiting = Array.from({ length: waitingCalls }, (_, n) => ask(n % 2 === 0 ? "held" : "held-mid", n % 2 !== 0))
  const busy = Array.from({ length: busyCallers }, async (_, n) => {
    while (!crashed) await ask("ok", n % 2 === 0)
  })
  await upstream.received(before + waitingCalls + busyCallers + answered)
  crashed = true
  await service.stop("SIGKILL")
  await Promise.all([...waiting, ...busy])
}

/** Each test starts services, which takes its time on a busy machine. */
const testMillis = 90_000

describe("after kill -9 under load", { timeout: testMillis }, () => {
  it("a restart on the same folder leaves no hold, charges nothing for what was lost, and works", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "gateway-crash-"))
    const inspect = () => Effect.runPromise(Effect.provide(ledgerRows, databaseAt({ dataDir })))
    await crashUnderLoad(await start({ dataDir }))
    const crashed = await inspect()
    expect(crashed.held).toBeGreaterThanOrEqual(waitingCalls)
    expect(crashed.wrong).toEqual([])

    const service = await start({ dataDir })
    const answer = await service.post("/v1/chat/completions", {
      model: "one/ok",
      messages: [{ role: "user", content: "hi" }]
    })
    expect(answer.status).toBe(200)
    expect(await service.stop()).toBe(0)

    expect(await inspect()).toEqual({
      held: 0,
      heldMoney: 0,
      settled: crashed.settled + 1,
      restarted: crashed.held,
      journal: 0,
      wrong: []
    })
    await rm(dataDir, { recursive: true, force: true })
  })

  it.skipIf(postgresServer === undefined)("PostgreSQL is swept by another node once the dead one has been silent", () =>
    Effect.gen(function* () {
      const databaseUrl = yield* freshDatabase(postgresServer ?? "")
      const database = databaseAt({ databaseUrl })
      const inspect = Effect.provide(ledgerRows, database)
      yield* Effect.promise(async () => crashUnderLoad(await start({ databaseUrl })))
      const crashed = yield* inspect
      expect(crashed.held).toBeGreaterThanOrEqual(waitingCalls)

      // a node that waits for the default silence leaves the holds alone: their owner could still live
      const patient = yield* Effect.promise(() => start({ databaseUrl }))
      expect((yield* inspect).held).toBe(crashed.held)
      yield* Effect.promise(() => patient.stop())

      const recovery = Recovery.layer({ interval: Duration.millis(50), silence: Duration.millis(1) }).pipe(
        Layer.provide(StoreHealth.layer),
        Layer.provide(RecoveryStore.layer),
        Layer.provide(LedgerNode.layer),
        Layer.provide(database),
        Layer.provide(Layer.provideMerge(IdGenerator.layer, Timers.layer))
      )
      yield* Effect.scoped(
        Effect.zipRight(Layer.build(recovery), Effect.repeat(inspect, { until: ({ held }) => held === 0 }))
      )
      expect(yield* inspect).toEqual({
        held: 0,
        heldMoney: 0,
        settled: crashed.settled,
        restarted: crashed.held,
        journal: 0,
        wrong: []
      })
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
