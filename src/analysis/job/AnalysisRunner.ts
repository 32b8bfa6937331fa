import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { Catalog } from "../../catalog/Catalog.ts"
import type { NotFound, SealingUnavailable } from "../../domain/AccountError.ts"
import type { AnalysedCall, CapturedConversation } from "../../domain/CapturedCall.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { PromptCache } from "../../domain/Model.ts"
import { periodically } from "../../domain/Periodic.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import { withRouting } from "../actions/Recommend.ts"
import { withAnswers } from "../evidence/AnsweredReport.ts"
import { type Answered, ReplayRun } from "../evidence/ReplayRun.ts"
import type { RequestedReplay } from "../evidence/RequestedReplay.ts"
import { SampleList } from "../evidence/Samples.ts"
import { SegmentTally } from "../evidence/Segments.ts"
import { ExperimentStore } from "../receipts/ExperimentStore.ts"
import { pastReceiptsOf } from "../receipts/ReceiptOf.ts"
import { AnalysisEngine, type EngineFailed, type EngineRun } from "./AnalysisEngine.ts"
import { AnalysisSource } from "./AnalysisSource.ts"
import { type AnalysisRow, AnalysisStore, type Lease } from "./AnalysisStore.ts"
import { ReportSeal } from "./ReportSeal.ts"

export interface AnalysisRunnerShape {
  /** Takes one analysis that waits, or was left by a node that is gone, and runs it to its end; false where there is none. */
  readonly runOne: Effect.Effect<boolean, StoreUnavailable>
}

/** Runs analyses. Any number of nodes may do so: a lease in the database says which one runs which. */
export class AnalysisRunner extends Context.Tag("gateway/analysis/AnalysisRunner")<
  AnalysisRunner,
  AnalysisRunnerShape
>() {
  static readonly layer: Layer.Layer<
    AnalysisRunner,
    never,
    | AnalysisEngine
    | AnalysisSource
    | AnalysisStore
    | Catalog
    | ChangeNotifications
    | ExperimentStore
    | IdGenerator
    | ReplayRun
    | ReportSeal
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxRunning = 2
/** A request announces itself: what nobody announces is left by a node that is gone, whose lease ends after 30 s. */
const pollMillis = 15_000
const heartbeatMillis = 10_000
/** Claims of one analysis: what has ended its nodes so often would end the next one too. */
const maxClaims = 5
const maxLogCalls = 10_000

/** In the background, two at a time; at once when one is asked for on any node. */
export const running: Layer.Layer<never, never, AnalysisRunner | ChangeNotifications> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { runOne } = yield* AnalysisRunner
    const changes = yield* ChangeNotifications
    for (let each = 0; each < maxRunning; each++) {
      const wake = yield* Queue.sliding<void>(1)
      const cancel = changes.onChange((change) => {
        if (change === undefined || change.kind === "analysis") wake.unsafeOffer(undefined)
      })
      yield* Effect.addFinalizer(() => Effect.sync(cancel))
      const untilNone: Effect.Effect<void, StoreUnavailable> = Effect.flatMap(runOne, (ran) =>
        ran ? untilNone : Effect.void
      )
      yield* periodically(
        0,
        "analyses could not be run",
        Effect.zipRight(untilNone, Effect.raceFirst(Effect.sleep(pollMillis), Queue.take(wake))).pipe(
          Effect.tapError(() => Effect.sleep(pollMillis))
        )
      )
    }
  })
)

/** What an analysis does, and the report of what it has got to when it is cancelled. */
type Work = Effect.Effect<{
  readonly run: Effect.Effect<"ended", EngineFailed | NotFound | SealingUnavailable | StoreUnavailable>
  readonly partial: Effect.Effect<Uint8Array | null, SealingUnavailable | StoreUnavailable>
}>

const make = Effect.gen(function* () {
  const replays = yield* ReplayRun
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const engine = yield* AnalysisEngine
  const seal = yield* ReportSeal
  const catalog = yield* Catalog
  const experiments = yield* ExperimentStore
  const changes = yield* ChangeNotifications
  const node = (yield* IdGenerator).uuid()

  /** Ends when the analysis is to end: `cancelled`, or `lost` when another node has it. */
  const watch = (lease: Lease) =>
    Effect.scoped(
      Effect.gen(function* () {
        const wake = yield* Queue.sliding<void>(1)
        const cancel = changes.onChange((change) => {
          if (change === undefined || change.id === lease.id) wake.unsafeOffer(undefined)
        })
        yield* Effect.addFinalizer(() => Effect.sync(cancel))
        for (;;) {
          const cancelRequested = yield* store.heartbeat(lease)
          if (cancelRequested === undefined) return "lost" as const
          if (cancelRequested) return "cancelled" as const
          yield* Effect.raceFirst(Effect.sleep(heartbeatMillis), Queue.take(wake))
        }
      })
    )

  /** Those from before the range too: they tell what was cached and asked before, and are in no figure. */
  const callsOf = (row: AnalysisRow, conversation: CapturedConversation) =>
    Effect.map(source.calls(row.projectId, conversation), (calls) =>
      calls.filter(({ capturedAt }) => capturedAt < row.rangeEnd.getTime())
    )

  const load = (row: AnalysisRow, run: EngineRun, segments: SegmentTally) =>
    Effect.gen(function* () {
      const range = { from: row.rangeStart, to: row.rangeEnd }
      const conversations = yield* source.conversations(row.projectId, { ...range, max: row.requestedCount })
      if (conversations.length === 0) {
        const calls = yield* source.callLog(row.projectId, { ...range, max: maxLogCalls })
        yield* store.progress(row, { phase: "load", done: 0, total: 1, sampleCount: calls.length })
        const byConversation = Object.entries(Arr.groupBy(calls, ({ conversation }) => conversation))
        for (const [conversation, own] of byConversation) yield* run.add({ conversation, inclusion: 1 }, own)
        return { source: "call_log" as const, configVersions: [] }
      }
      let sampleCount = 0
      for (const [done, conversation] of conversations.entries()) {
        yield* store.progress(row, { phase: "load", done, total: conversations.length, sampleCount })
        const calls = yield* callsOf(row, conversation)
        yield* run.add(conversation, calls)
        const counted = inRange(row, calls)
        segments.add(counted)
        sampleCount += counted.length
      }
      yield* store.progress(row, {
        phase: "load",
        done: conversations.length,
        total: conversations.length,
        sampleCount
      })
      const versions = new Set(conversations.map(({ configVersion }) => configVersion))
      return { source: "captured" as const, configVersions: [...versions].sort((a, b) => a - b) }
    })

  const analyse = (row: AnalysisRow) =>
    Effect.scoped(
      Effect.gen(function* () {
        const run = yield* engine.open(cachesOf(catalog))
        const segments = new SegmentTally()
        const loaded = yield* load(row, run, segments)
        const now = yield* store.find(row.id)
        const progress = { done: now?.done ?? 0, total: now?.total ?? 0, sampleCount: now?.sampleCount ?? 0 }
        yield* store.progress(row, { ...progress, phase: "static" })
        const range = { from: row.rangeStart, to: row.rangeEnd }
        const traffic = yield* source.traffic(row.projectId, range)
        const routing = yield* source.routing(row.projectId, range)
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
        yield* store.finish(row, {
          status: isSufficient ? "succeeded" : "insufficient_data",
          error: null,
          report: yield* seal.seal(row.id, withRouting(complete, routing))
        })
        return "ended" as const
      })
    )

  const failed = (row: AnalysisRow, error: string) =>
    Effect.as(store.finish(row, { status: "failed", error, report: null }), "ended" as const)

  const replaying = (row: AnalysisRow, replay: RequestedReplay): Work =>
    Effect.sync(() => {
      const opened = row.reportSealed === null ? Effect.succeed(null) : seal.open(row.id, row.reportSealed)
      const answered: Array<Answered> = []
      const sealed = (known: AnalysisReport) =>
        Effect.flatMap(replays.spent(row.id), (spent) => seal.seal(row.id, withAnswers(known, answered, replay, spent)))
      const at = { sampleCount: row.sampleCount, total: replay.questions.length }
      const run = Effect.gen(function* () {
        const report = yield* opened
        if (report === null) return yield* failed(row, "The report that the replay belongs to cannot be decrypted.")
        yield* store.progress(row, { ...at, phase: "plan", done: 0 })
        const samples = new SampleList(replay.questions)
        const range = { from: row.rangeStart, to: row.rangeEnd }
        for (const each of yield* source.conversations(row.projectId, { ...range, max: row.requestedCount })) {
          samples.add(inRange(row, yield* callsOf(row, each)))
        }
        yield* store.progress(row, { ...at, phase: "replay", done: 0 })
        yield* replays.run(row, replay, samples, (one) =>
          Effect.suspend(() => {
            answered.push(one)
            return Effect.asVoid(store.progress(row, { ...at, phase: "replay", done: answered.length }))
          })
        )
        yield* store.progress(row, { ...at, phase: "report", done: answered.length })
        yield* store.finish(row, { status: "succeeded", error: null, report: yield* sealed(report) })
        return "ended" as const
      })
      return {
        run,
        partial: Effect.flatMap(opened, (report) => (report === null ? Effect.succeed(null) : sealed(report)))
      }
    })

  const working = (row: AnalysisRow): Work =>
    row.replay === null
      ? Effect.succeed({ run: analyse(row), partial: Effect.succeed(null) })
      : replaying(row, row.replay)

  const run = (row: AnalysisRow): Effect.Effect<void, StoreUnavailable> =>
    Effect.gen(function* () {
      if (row.epoch - row.replayEpoch > maxClaims) {
        yield* failed(row, `It did not complete in ${maxClaims} attempts.`)
        return
      }
      const work = yield* working(row)
      const end = yield* Effect.raceFirst(
        work.run.pipe(
          Effect.catchTags({
            EngineFailed: ({ reason }: EngineFailed) => failed(row, `The engine failed: ${reason.slice(0, 200)}.`),
            NotFound: ({ message }: NotFound) => failed(row, message),
            SealingUnavailable: ({ message }: SealingUnavailable) => failed(row, message)
          })
        ),
        watch(row)
      )
      if (end !== "cancelled") return
      const report = yield* Effect.catchTag(work.partial, "SealingUnavailable", () => Effect.succeed(null))
      yield* store.finish(row, { status: "cancelled", error: null, report })
    })

  return AnalysisRunner.of({
    runOne: Effect.flatMap(store.claim(node), (row) =>
      row === undefined ? Effect.succeed(false) : Effect.as(run(row), true)
    )
  })
})

const inRange = ({ rangeStart }: AnalysisRow, calls: ReadonlyArray<AnalysedCall>): ReadonlyArray<AnalysedCall> =>
  calls.filter(({ capturedAt }) => capturedAt >= rangeStart.getTime())

const cachesOf = (catalog: Catalog["Type"]): Readonly<Record<string, PromptCache>> =>
  Object.fromEntries(
    catalog
      .callerSnapshot()
      .models.flatMap(({ cache, id }) => (cache === null || cache === undefined ? [] : [[id, cache]]))
  )
