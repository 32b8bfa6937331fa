import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { EngineSession } from "../../../src/analysis/EngineSession.ts"
import { AnalysisStore } from "../../../src/analysis/job/AnalysisStore.ts"
import { ReportSeal } from "../../../src/analysis/job/ReportSeal.ts"
import { resealReports } from "../../../src/analysis/job/ResealReports.ts"
import { MasterKey } from "../../../src/credentials/MasterKey.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import { databases } from "../../ledger/databases.ts"
import { masterKey } from "../../support/Service.ts"

const ids = {
  user: "00000000-0000-4000-8000-00000000000c",
  account: "00000000-0000-4000-8000-00000000000a",
  project: ProjectId.make("00000000-0000-4000-8000-00000000000b"),
  analysis: "00000000-0000-7000-8000-000000000001"
}
const other = Buffer.alloc(32, 8).toString("base64")
const { report } = new EngineSession({}).report({
  fromMillis: 0,
  toMillis: 86_400_000,
  configVersions: [],
  source: "call_log",
  traffic: { calls: 0, spentMicroUsd: 0, optedIn: { calls: 0, spentMicroUsd: 0 } },
  seed: 1
})

const withKeys = (current: string, previous: string | null = null) =>
  ReportSeal.layer.pipe(
    Layer.provide(
      MasterKey.layer({
        current: Redacted.make(current),
        previous: previous === null ? null : Redacted.make(previous),
        directory: null
      })
    )
  )

for (const [name, database] of databases) {
  layer(AnalysisStore.layer.pipe(Layer.provideMerge(database)), { timeout: 120_000 })(`reports, ${name}`, (it) => {
    it.effect("are sealed with a new master key, once, and open without the previous one", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* sql`insert into app_user (id, name) values (${ids.user}, 'u')`
        yield* sql`insert into account (id, user_id) values (${ids.account}, ${ids.user})`
        yield* sql`insert into project (id, account_id, name) values (${ids.project}, ${ids.account}, 'p')`
        const store = yield* AnalysisStore
        yield* store.create({
          id: ids.analysis,
          projectId: ids.project,
          rangeStart: new Date(0),
          rangeEnd: new Date(86_400_000),
          requestedCount: 10,
          seed: 1
        })
        const claimed = yield* store.claim("00000000-0000-4000-8000-000000000001")
        if (claimed === undefined) throw new Error("the analysis was not claimed")
        const sealed = yield* Effect.provide(
          Effect.flatMap(ReportSeal, ({ seal }) => seal(ids.analysis, report)),
          withKeys(masterKey)
        )
        yield* store.finish(claimed, { status: "succeeded", error: null, report: sealed })

        const opened = Effect.gen(function* () {
          const row = yield* store.find(ids.analysis)
          return yield* (yield* ReportSeal).open(ids.analysis, row?.reportSealed ?? new Uint8Array())
        })
        expect(yield* Effect.flip(Effect.provide(opened, withKeys(other)))).toMatchObject({
          _tag: "SealingUnavailable",
          message: expect.stringContaining("GATEWAY_MASTER_KEY_PREVIOUS")
        })
        expect(yield* Effect.provide(resealReports, withKeys(other, masterKey))).toEqual({ resealed: 1, unreadable: 0 })
        expect(yield* Effect.provide(opened, withKeys(other))).toEqual(report)
        expect(yield* Effect.provide(resealReports, withKeys(other))).toEqual({ resealed: 0, unreadable: 0 })
        expect(yield* Effect.provide(resealReports, withKeys(masterKey))).toEqual({ resealed: 0, unreadable: 1 })
      })
    )
  })
}
