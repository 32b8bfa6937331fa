// Promise: After kill -9 in the middle of an answer its text is kept, it is shown as interrupted, and nothing is charged for it.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import * as Recovery from "../../src/ledger/Recovery.ts"
import { RecoveryStore } from "../../src/ledger/RecoveryStore.ts"
import { StoreHealth } from "../../src/ledger/StoreHealth.ts"
import { type Api, operatorApi } from "../dashboard/Seeded.ts"
import { freshDatabase, postgresServer } from "../ledger/databases.ts"
import { databaseKinds } from "../support/AccountService.ts"
import { configOf, type Detail, startTalker, type Talker } from "../support/Chat.ts"
import { databaseAt, ledgerRows } from "../support/LedgerRows.ts"
import { masterKey, type Service, startService } from "../support/Service.ts"

const text = "The first half of an answer 👋, and"

/** Each test starts services, which takes its time on a busy machine. */
const testMillis = 120_000

describe.each(databaseKinds)("an answer that kill -9 has broken off, on %s", (kind) => {
  let talker: Talker
  let place: { readonly dataDir?: string; readonly databaseUrl?: string }
  let scope: Scope.CloseableScope
  beforeAll(async () => {
    talker = await startTalker()
    scope = await Effect.runPromise(Scope.make())
    place =
      kind === "embedded"
        ? { dataDir: await mkdtemp(join(tmpdir(), "gateway-chat-crash-")) }
        : { databaseUrl: await Effect.runPromise(Scope.extend(freshDatabase(postgresServer ?? ""), scope)) }
  })
  afterAll(async () => {
    await talker.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    if (place.dataDir !== undefined) await rm(place.dataDir, { recursive: true, force: true })
  })

  const start = () =>
    startService({
      ...(place.dataDir === undefined ? {} : { dataDir: place.dataDir }),
      env: {
        PROVIDER_KEY: "sk-upstream",
        GATEWAY_MASTER_KEY: masterKey,
        ...(place.databaseUrl === undefined ? {} : { DATABASE_URL: place.databaseUrl })
      },
      config: configOf(talker)
    })
  const database = () => databaseAt(place)

  /** As if the process that is gone had been silent for two minutes, and the other one heard as long. */
  const ageNodes = () =>
    Effect.runPromise(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`update node set heard_since = heard_since - interval '2 minutes',
          seen_at = case when id = (select node_id from conversation where turn_id is not null)
            then seen_at - interval '2 minutes' else seen_at end`
      ).pipe(Effect.provide(database()))
    )

  /** What waits for a minute of silence on PostgreSQL, without the minute. */
  const recover = () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.zipRight(
          Layer.build(
            Recovery.layer({ interval: Duration.millis(50), silence: Duration.millis(1) }).pipe(
              Layer.provide(StoreHealth.layer),
              Layer.provide(RecoveryStore.layer),
              Layer.provide(LedgerNode.layer),
              Layer.provide(Layer.provideMerge(IdGenerator.layer, Timers.layer))
            )
          ),
          Effect.repeat(ledgerRows, { until: ({ held }) => held === 0 })
        )
      ).pipe(Effect.provide(database()))
    )

  it("is interrupted, keeps its text, costs nothing, and can be asked for again", { timeout: testMillis }, async () => {
    const path = "/api/chat/conversations"
    const first = await start()
    const firstApi = await operatorApi(first)
    const me = await firstApi<{ readonly default_project_id: string }>("GET", "/api/me")
    const { id } = await firstApi<{ readonly id: string }>("POST", path, { project_id: me.default_project_id })
    const read = (api: Api) => api<Detail>("GET", `${path}/${id}`)
    const { assistant_message, cursor } = await firstApi<{
      readonly assistant_message: { readonly id: string }
      readonly cursor: string
    }>("POST", `${path}/${id}/messages`, { content: "Write", model: "acme/large", artifacts: false })
    const talk = await talker.talk(0)
    talk.say(text)
    await expect.poll(async () => (await read(firstApi)).messages[1]?.content).toBe(text)
    expect(await read(firstApi)).toMatchObject({ running: true, messages: [{}, { status: "streaming" }] })
    await first.stop("SIGKILL")
    expect(first.process.signalCode).toBe("SIGKILL")

    const second = await start()
    if (kind === "PostgreSQL") await ageNodes()
    const secondApi = await operatorApi(second)
    await expect.poll(async () => (await read(secondApi)).running, { timeout: 30_000 }).toBe(false)
    const { messages } = await read(secondApi)
    expect(messages[1]).toMatchObject({
      id: assistant_message.id,
      status: "interrupted",
      content: text,
      cost: { amount_microusd: 0 }
    })
    // who comes back with the cursor of before gets all of it, and the end
    expect(await eventsOf(second, secondApi, id, cursor)).toEqual([
      ["snapshot", expect.objectContaining({ running: false, messages: [expect.anything(), messages[1]] })]
    ])

    await secondApi("POST", `${path}/${id}/messages/${assistant_message.id}/retry`, {})
    const again = await talker.talk(1)
    expect(again.received.body["messages"]).toEqual([{ role: "user", content: "Write" }])
    again.say("All of it.")
    again.finish()
    await expect.poll(async () => (await read(secondApi)).running).toBe(false)
    const retried = (await read(secondApi)).messages[1]
    expect(retried).toMatchObject({ status: "complete", content: "All of it.", versions: [{ status: "interrupted" }] })
    await second.stop()

    if (kind === "PostgreSQL") await recover()
    expect(await Effect.runPromise(Effect.provide(ledgerRows, database()))).toEqual({
      held: 0,
      heldMoney: 0,
      settled: 1,
      restarted: 1,
      journal: 0,
      wrong: []
    })
  })
})

/** The events that a reader gets from a cursor, until the service ends them. */
const eventsOf = async (
  service: Service,
  api: Api,
  conversation: string,
  cursor: string
): Promise<ReadonlyArray<readonly [name: string, data: unknown]>> => {
  const { token } = await sessionOf(service, api)
  const answer = await service.fetch(
    `/api/chat/conversations/${conversation}/events?cursor=${encodeURIComponent(cursor)}`,
    { headers: { authorization: `Bearer ${token}` } }
  )
  return (await answer.text())
    .split("\n\n")
    .filter((frame) => frame.includes("event: "))
    .map((frame) => {
      const [, name = ""] = /^event: (.*)$/m.exec(frame) ?? []
      const [, data = "null"] = /^data: (.*)$/m.exec(frame) ?? []
      return [name, JSON.parse(data)] as const
    })
}

/** Another session of the same person. */
const sessionOf = async (service: Service, api: Api): Promise<{ readonly token: string }> => {
  const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
  const answer = await service.fetch("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: new URL(url).hash.slice("#code=".length), transport: "bearer" })
  })
  return (await answer.json()) as { readonly token: string }
}
