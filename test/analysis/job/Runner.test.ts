import { SqlClient } from "@effect/sql/SqlClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ReplayRun } from "../../../src/analysis/evidence/ReplayRun.ts"
import { AnalysisEngine } from "../../../src/analysis/job/AnalysisEngine.ts"
import { AnalysisRunner } from "../../../src/analysis/job/AnalysisRunner.ts"
import { AnalysisSource } from "../../../src/analysis/job/AnalysisSource.ts"
import { AnalysisStore } from "../../../src/analysis/job/AnalysisStore.ts"
import { ReportSeal } from "../../../src/analysis/job/ReportSeal.ts"
import { ExperimentStore } from "../../../src/analysis/receipts/ExperimentStore.ts"
import { Catalog } from "../../../src/catalog/Catalog.ts"
import { MasterKey } from "../../../src/credentials/MasterKey.ts"
import { IdGenerator } from "../../../src/domain/IdGenerator.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { ChangeNotifications } from "../../../src/sql/ChangeNotifications.ts"
import { databases } from "../../ledger/databases.ts"
import { masterKey } from "../../support/Service.ts"
import { generate } from "../planted/Application.ts"

const app = { seed: 4, shape: "extraction" as const, plants: new Set(["duplicate"]), traps: new Set<string>() }
let conversations = generate(app)
const ids = {
  user: "00000000-0000-4000-8000-00000000000c",
  account: "00000000-0000-4000-8000-00000000000a",
  project: ProjectId.make("00000000-0000-4000-8000-00000000000b")
}

/** Stops a run at a point: `reached` when it gets there, and it goes no further. */
let stopAt: { readonly place: string; readonly reached: Deferred.Deferred<void> } | undefined
const pass = (place: string) =>
  Effect.suspend(() =>
    stopAt?.place === place ? Effect.zipRight(Deferred.succeed(stopAt.reached, undefined), Effect.never) : Effect.void
  )

const sums = { calls: 1_000, spentMicroUsd: 9_000_000 }
const source = Layer.succeed(AnalysisSource, {
  conversations: () =>
    Effect.as(
      pass("select"),
      conversations.map(({ calls, id }, position) => ({
        conversation: id,
        configVersion: 3,
        inclusion: 0.5,
        position,
        calls: calls.length
      }))
    ),
  calls: (_, { conversation }) =>
    Effect.as(
      conversation === conversations[20]?.id ? pass("load") : Effect.void,
      conversations.find(({ id }) => id === conversation)?.calls ?? []
    ),
  callLog: () => Effect.succeed([]),
  traffic: () => Effect.as(pass("static"), { ...sums, optedIn: sums }),
  routing: (projectId) => Effect.succeed({ projectId, outlook: undefined, attempts: [] })
})

/** No analysis of this file has one. */
const replays = Layer.succeed(ReplayRun, {
  plan: () => Effect.dieMessage("no replay was asked for"),
  run: () => Effect.dieMessage("no replay was asked for"),
  spent: () => Effect.dieMessage("no replay was asked for")
})

describe.each(databases)("the runner of analyses on %s", (_, database) => {
  const sealing = ReportSeal.layer.pipe(
    Layer.provide(MasterKey.layer({ current: Redacted.make(masterKey), previous: null, directory: null }))
  )
  /** Stops where the report is written. */
  const seal = Layer.effect(
    ReportSeal,
    Effect.map(ReportSeal, (inner) => ({
      ...inner,
      seal: (id: string, report: Parameters<typeof inner.seal>[1]) =>
        Effect.zipRight(pass("report"), inner.seal(id, report))
    }))
  ).pipe(Layer.provide(sealing))
  const layer = AnalysisRunner.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        AnalysisStore.layer,
        ExperimentStore.layer,
        AnalysisEngine.layerInline,
        source,
        replays,
        seal,
        Catalog.layerOf([]),
        ChangeNotifications.layer
      )
    ),
    Layer.provideMerge(IdGenerator.layer),
    Layer.provideMerge(Timers.layer),
    Layer.provideMerge(database)
  )
  const runtime = ManagedRuntime.make(layer)
  type Services = Layer.Layer.Success<typeof layer>
  const run = <A, E>(effect: Effect.Effect<A, E, Services>) => runtime.runPromise(effect)

  beforeAll(
    () =>
      run(
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* sql`insert into app_user (id, name) values (${ids.user}, 'u')`
          yield* sql`insert into account (id, user_id) values (${ids.account}, ${ids.user})`
          yield* sql`insert into project (id, account_id, name) values (${ids.project}, ${ids.account}, 'p')`
        })
      ),
    120_000
  )
  afterAll(() => runtime.dispose())

  let made = 0
  /** All with the same seed: reports of the same range are to be the same. */
  const createFrom = Effect.fnUntraced(function* (rangeStart: Date) {
    made++
    const id = `00000000-0000-7000-8000-${String(made).padStart(12, "0")}`
    const store = yield* AnalysisStore
    const created = yield* store.create({
      id,
      projectId: ids.project,
      rangeStart,
      rangeEnd: new Date(1_800_000_000_000),
      requestedCount: 1000,
      seed: 17
    })
    expect(created).toBe(true)
    return id
  })
  const create = createFrom(new Date(1_700_000_000_000))
  const reportOf = (id: string) =>
    Effect.gen(function* () {
      const row = yield* (yield* AnalysisStore).find(id)
      expect(row?.status).toBe("succeeded")
      expect(row?.sampleCount).toBe(conversations.reduce((sum, { calls }) => sum + calls.length, 0))
      return yield* (yield* ReportSeal).open(id, row?.reportSealed ?? new Uint8Array())
    })
  const expireLease = (id: string) =>
    Effect.flatMap(
      SqlClient,
      (sql) => sql`update analysis set lease_until = now() - interval '1 second' where id = ${id}`
    )
  /** Begins a run and ends its fiber at the place, as a crash would: its lease stays. */
  const crashAt = (place: string) =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      stopAt = { place, reached }
      const fiber = yield* Effect.fork((yield* AnalysisRunner).runOne)
      yield* Effect.timeout(Deferred.await(reached), "20 seconds")
      yield* Fiber.interrupt(fiber)
      stopAt = undefined
    })

  it("gives the same report after a crash in any phase, and after two", async () => {
    const reports = await run(
      Effect.gen(function* () {
        const { runOne } = yield* AnalysisRunner
        const first = yield* create
        expect(yield* runOne).toBe(true)
        const reports = [yield* reportOf(first)]
        for (const places of [["select"], ["load"], ["static"], ["report"], ["load", "report"]]) {
          const id = yield* create
          for (const place of places) {
            yield* crashAt(place)
            expect(yield* runOne).toBe(false)
            yield* expireLease(id)
          }
          expect(yield* runOne).toBe(true)
          reports.push(yield* reportOf(id))
        }
        return reports
      })
    )
    expect(reports[0]?.causes.map(({ id }) => id)).toContain("duplicate")
    expect(reports[0]?.scope).toMatchObject({ source: "captured", config_versions: [3] })
    for (const report of reports) expect(report).toEqual(reports[0])
  }, 120_000)

  it("counts only calls of its range, of conversations that began before it", () =>
    run(
      Effect.gen(function* () {
        const before = conversations
        conversations = generate({ ...app, shape: "chat", plants: new Set() }).map((each) => ({
          ...each,
          calls: each.calls.map((call) => ({ ...call, class: "chat" as const }))
        }))
        yield* Effect.addFinalizer(() => Effect.sync(() => (conversations = before)))
        const calls = conversations.flatMap((each) => each.calls).toSorted((a, b) => a.capturedAt - b.capturedAt)
        const start = calls[calls.length >> 1]?.capturedAt ?? 0
        const own = calls.filter(({ capturedAt }) => capturedAt >= start)
        const isBefore = ({ capturedAt }: { readonly capturedAt: number }) => capturedAt < start
        expect(conversations.some((each) => each.calls.some(isBefore) && !each.calls.every(isBefore))).toBe(true)
        const id = yield* createFrom(new Date(start))
        expect(yield* (yield* AnalysisRunner).runOne).toBe(true)
        const row = yield* (yield* AnalysisStore).find(id)
        expect(row).toMatchObject({ sampleCount: own.length })
        const report = yield* (yield* ReportSeal).open(id, row?.reportSealed ?? new Uint8Array())
        expect(report?.scope.samples).toBe(own.length)
        const spent = own.reduce((sum, { cost }) => sum + cost.amount_microusd, 0)
        expect(report?.headline.observed.spent_microusd).toBe(spent)
        const answered = own.filter(({ usage }) => usage !== null)
        expect(report?.segments.map((segment) => segment.calls)).toEqual([answered.length])
      }).pipe(Effect.scoped)
    ))

  it("writes nothing with an epoch that is over", () =>
    run(
      Effect.gen(function* () {
        const store = yield* AnalysisStore
        const id = yield* create
        const stale = yield* store.claim("00000000-0000-4000-8000-000000000001")
        yield* expireLease(id)
        const current = yield* store.claim("00000000-0000-4000-8000-000000000002")
        expect([stale?.id, current?.id, current?.epoch]).toEqual([id, id, (stale?.epoch ?? 0) + 1])
        if (stale === undefined || current === undefined) return
        const at = { phase: "load" as const, done: 7, total: 9, sampleCount: 5 }
        const end = { status: "failed" as const, error: "stale", report: null }
        expect(yield* store.progress(stale, at)).toBe(false)
        expect(yield* store.finish(stale, end)).toBe(false)
        expect(yield* store.heartbeat(stale)).toBeUndefined()
        expect(yield* store.find(id)).toMatchObject({ status: "running", done: 0, error: null })
        expect(yield* store.heartbeat(current)).toBe(false)
        expect(yield* store.finish(current, { ...end, status: "cancelled", error: null })).toBe(true)
      })
    ))

  it("ends one that is cancelled at once, wherever it is", () =>
    run(
      Effect.gen(function* () {
        const store = yield* AnalysisStore
        const id = yield* create
        const reached = yield* Deferred.make<void>()
        stopAt = { place: "load", reached }
        const fiber = yield* Effect.fork((yield* AnalysisRunner).runOne)
        yield* Effect.timeout(Deferred.await(reached), "20 seconds")
        yield* (yield* ChangeNotifications).commit((announce) =>
          Effect.zipRight(store.cancel(id), announce({ kind: "analysis", id }))
        )
        // long before the next heartbeat
        yield* Effect.timeout(Fiber.join(fiber), "5 seconds")
        stopAt = undefined
        expect(yield* store.find(id)).toMatchObject({ status: "cancelled", reportSealed: null })
      })
    ))

  it("gives up what has ended five of its nodes", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const id = yield* create
        yield* sql`update analysis set epoch = 5 where id = ${id}`
        expect(yield* (yield* AnalysisRunner).runOne).toBe(true)
        expect(yield* (yield* AnalysisStore).find(id)).toMatchObject({ status: "failed", reportSealed: null })
      })
    ))

  it("notes which actions were taken, and undone", () =>
    run(
      Effect.gen(function* () {
        const store = yield* AnalysisStore
        const id = yield* create
        yield* store.cancel(id)
        const hint = {
          actionId: "duplicate",
          kind: "client_hint",
          slug: null,
          fieldsBefore: null,
          fieldsAfter: null
        } as const
        yield* store.take(id, hint)
        expect(yield* store.taken(id)).toMatchObject([{ ...hint, undoneAt: null }])
        yield* store.undo(id, "duplicate")
        expect((yield* store.taken(id))[0]?.undoneAt).toBeInstanceOf(Date)
        yield* store.take(id, hint)
        expect((yield* store.taken(id))[0]?.undoneAt).toBeNull()
      })
    ))
})
