// Promise: A request with an Idempotency-Key is charged once, whenever its node is killed.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { freshDatabase, postgresServer } from "../ledger/databases.ts"
import { figure, inLong } from "../support/Figures.ts"
import { databaseAt, ledgerRows } from "../support/LedgerRows.ts"
import { type Service, startService } from "../support/Service.ts"
import { answer, start as startUpstream, type Upstream } from "../support/Upstream.ts"

const kills = inLong(12, 6)
/** From the answer of the provider to the kill: some fall before the settlement is written, some after it. */
const millisBetweenKills = inLong(3, 6)
/** A silent node counts as dead after 60 s; its holds end with the next sweep. */
const recoveryMillis = 75_000
const price = 1_000_000

let upstream: Upstream
let afterAnswer: () => void

beforeEach(async () => {
  afterAnswer = () => {}
  upstream = await startUpstream((received, response) => {
    answer(received, response, ["Hello", " from", " upstream"])
    afterAnswer()
  })
})
afterEach(() => upstream.stop())

const startNode = (where: { readonly dataDir?: string; readonly databaseUrl?: string }): Promise<Service> =>
  startService({
    ...(where.dataDir === undefined ? {} : { dataDir: where.dataDir }),
    env: where.databaseUrl === undefined ? {} : { DATABASE_URL: where.databaseUrl },
    config: {
      providers: [
        {
          id: "one",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          models: [
            {
              id: "one/m",
              inputPriceMicroUsdPerMillion: price,
              outputPriceMicroUsdPerMillion: price,
              contextTokens: 100_000,
              outputTokens: 1_000
            }
          ]
        }
      ]
    }
  })

const send = (service: Service, kill: number): Promise<Response> =>
  service.post(
    "/v1/chat/completions",
    { model: "one/m", stream: kill % 2 === 0, messages: [{ role: "user", content: "hi" }] },
    { "idempotency-key": `kill ${kill}` }
  )

/** The node is killed shortly after the provider's answer; whether the client got an answer is up to chance. */
const sendAndKill = async (service: Service, kill: number): Promise<string> => {
  const killed = new Promise<void>((resolve) => {
    afterAnswer = () => setTimeout(() => void service.stop("SIGKILL").then(() => resolve()), kill * millisBetweenKills)
  })
  const text = await send(service, kill)
    .then((response) => response.text())
    .catch(() => "")
  await killed
  afterAnswer = () => {}
  return text
}

/** Sends the same request until it is no longer said to be running. */
const repeat = async (
  service: Service,
  kill: number
): Promise<{ readonly isReplay: boolean; readonly text: string }> => {
  const deadline = Date.now() + recoveryMillis
  while (Date.now() < deadline) {
    const response = await send(service, kill)
    const text = await response.text()
    if (response.status === 200) return { isReplay: response.headers.has("idempotent-replayed"), text }
    expect([response.status, text]).toEqual([429, expect.stringContaining("idempotent_request_in_progress")])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  throw new Error(`the Idempotency-Key of kill ${kill} is stuck`)
}

const charges = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [row] = yield* sql<{ readonly count: number; readonly distinct: number }>`
    select count(*)::int as count, count(distinct amount_micro_usd)::int as distinct from journal where kind = 'usage'`
  return { ...row, rows: yield* ledgerRows }
})

const expectOneChargeEach = async (
  where: { readonly dataDir?: string; readonly databaseUrl?: string },
  repeated: ReadonlyArray<{ readonly isReplay: boolean }>
) => {
  const replays = repeated.filter(({ isReplay }) => isReplay).length
  const { count, distinct, rows } = await Effect.runPromise(Effect.provide(charges, databaseAt(where)))
  figure(`${kills} kills at the answer: replayed, run again, charges`, `${replays} ${kills - replays} ${count}`)
  expect([count, distinct]).toEqual([kills, 1])
  expect(upstream.requests.length).toBe(kills + kills - replays)
  expect(rows).toMatchObject({ held: 0, settled: kills, restarted: kills - replays, journal: 0, wrong: [] })
}

describe(`${kills} kills at the moment of the answer`, () => {
  // the suite runs on both databases, and each of the two takes a minute
  const restarted = it.skipIf(postgresServer !== undefined)
  restarted("leave each request with one charge and one answer, after a restart", { timeout: 240_000 }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "gateway-killed-"))
    const repeated = []
    let service = await startNode({ dataDir })
    for (let kill = 0; kill < kills; kill++) {
      const seen = await sendAndKill(service, kill)
      service = await startNode({ dataDir })
      const again = await repeat(service, kill)
      // a client that has seen the end has seen the answer that is kept
      if (seen.includes("[DONE]")) expect(again).toEqual({ isReplay: true, text: seen })
      repeated.push(again)
    }
    await service.stop()
    await expectOneChargeEach({ dataDir }, repeated)
    await rm(dataDir, { recursive: true, force: true })
  })

  it.skipIf(postgresServer === undefined)(
    "leave each request with one charge and one answer, from another node",
    { timeout: 300_000 },
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* freshDatabase(postgresServer ?? "")
        yield* Effect.promise(async () => {
          const other = await startNode({ databaseUrl })
          for (let kill = 0; kill < kills; kill++) await sendAndKill(await startNode({ databaseUrl }), kill)
          const repeated = await Promise.all(Array.from({ length: kills }, (_, kill) => repeat(other, kill)))
          await other.stop()
          await expectOneChargeEach({ databaseUrl }, repeated)
        })
      }).pipe(Effect.scoped, Effect.runPromise)
  )
})
