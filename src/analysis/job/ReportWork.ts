import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { Catalog } from "../../catalog/Catalog.ts"
import type { CapturedConversation } from "../../domain/CapturedCall.ts"
import type { PromptCache } from "../../domain/Model.ts"
import { withRouting } from "../actions/Recommend.ts"
import { SegmentTally } from "../evidence/Segments.ts"
import { ExperimentStore } from "../receipts/ExperimentStore.ts"
import { pastReceiptsOf } from "../receipts/ReceiptOf.ts"
import { AnalysisEngine, type EngineRun } from "./AnalysisEngine.ts"
import { inRange, rangeOf, untilEnd } from "./AnalysisRange.ts"
import { AnalysisSource } from "./AnalysisSource.ts"
import { type AnalysisRow, AnalysisStore } from "./AnalysisStore.ts"
import type { AnalysisWork } from "./AnalysisWork.ts"

const maxLogCalls = 10_000

/** Reads the calls of an analysis and makes its report. */
export const make: Effect.Effect<
  (row: AnalysisRow) => AnalysisWork,
  never,
  AnalysisEngine | AnalysisSource | AnalysisStore | Catalog | ExperimentStore
> = Effect.gen(function* () {
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const engine = yield* AnalysisEngine
  const catalog = yield* Catalog
  const experiments = yield* ExperimentStore

  const loadCaptured = (
    row: AnalysisRow,
    conversations: ReadonlyArray<CapturedConversation>,
    run: EngineRun,
    segments: SegmentTally
  ) =>
    Effect.gen(function* () {
      const total = conversations.length
      let sampleCount = 0
      for (const [done, conversation] of conversations.entries()) {
        yield* store.progress(row, { phase: "load", done, total, sampleCount })
        const calls = yield* source.calls(row.projectId, conversation)
        yield* run.add(conversation, untilEnd(row, calls))
        const counted = inRange(row, calls)
        segments.add(counted)
        sampleCount += counted.length
      }
      yield* store.progress(row, { phase: "load", done: total, total, sampleCount })
      const versions = new Set(conversations.map(({ configVersion }) => configVersion))
      return { source: "captured" as const, configVersions: [...versions].sort((a, b) => a - b) }
    })

  const loadCallLog = (row: AnalysisRow, run: EngineRun) =>
    Effect.gen(function* () {
      const calls = yield* source.callLog(row.projectId, { ...rangeOf(row), max: maxLogCalls })
      yield* store.progress(row, { phase: "load", done: 0, total: 1, sampleCount: calls.length })
      const byConversation = Object.entries(Arr.groupBy(calls, ({ conversation }) => conversation))
      for (const [conversation, own] of byConversation) yield* run.add({ conversation, inclusion: 1 }, own)
      return { source: "call_log" as const, configVersions: [] }
    })

  const load = (row: AnalysisRow, run: EngineRun, segments: SegmentTally) =>
    Effect.gen(function* () {
      const range = { ...rangeOf(row), max: row.requestedCount }
      const conversations = yield* source.conversations(row.projectId, range)
      return yield* conversations.length === 0 ? loadCallLog(row, run) : loadCaptured(row, conversations, run, segments)
    })

  const report = (row: AnalysisRow) =>
    Effect.gen(function* () {
      const run = yield* engine.open(cachesOf(catalog))
      const segments = new SegmentTally()
      const loaded = yield* load(row, run, segments)
      const now = yield* store.find(row.id)
      const progress = { done: now?.done ?? 0, total: now?.total ?? 0, sampleCount: now?.sampleCount ?? 0 }
      yield* store.progress(row, { ...progress, phase: "static" })
      const traffic = yield* source.traffic(row.projectId, rangeOf(row))
      const routing = yield* source.routing(row.projectId, rangeOf(row))
      const { isSufficient, report } = yield* run.report({
        ...loaded,
        fromMillis: row.rangeStart.getTime(),
        toMillis: row.rangeEnd.getTime(),
        traffic,
        seed: row.seed
      })
      yield* store.progress(row, { ...progress, phase: "report" })
      const past = yield* experiments.final(row.projectId)
      const complete = {
        ...report,
        segments: segments.totals(),
        honesty: { ...report.honesty, past_receipts: pastReceiptsOf(past) }
      }
      return {
        status: isSufficient ? ("succeeded" as const) : ("insufficient_data" as const),
        error: null,
        report: withRouting(complete, routing)
      }
    })

  return (row) => ({ run: Effect.scoped(report(row)), partial: Effect.succeed(null) })
})

const cachesOf = (catalog: Catalog["Type"]): Readonly<Record<string, PromptCache>> =>
  Object.fromEntries(
    catalog
      .callerSnapshot()
      .models.flatMap(({ cache, id }) => (cache === null || cache === undefined ? [] : [[id, cache]]))
  )
