import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { Catalog } from "../../catalog/Catalog.ts"
import type { SealingUnavailable } from "../../domain/AccountError.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { PromptCache } from "../../domain/Model.ts"
import { periodically } from "../../domain/Periodic.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
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
    AnalysisEngine | AnalysisSource | AnalysisStore | Catalog | ChangeNotifications | IdGenerator | ReportSeal
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxRunning = 2
const pollMillis = 2_000
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

const make = Effect.gen(function* () {
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const engine = yield* AnalysisEngine
  const seal = yield* ReportSeal
  const catalog = yield* Catalog
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

  const load = (row: AnalysisRow, run: EngineRun) =>
    Effect.gen(function* () {
      const range = { from: row.rangeStart, to: row.rangeEnd }
      const conversations = yield* source.conversations(row.projectId, { ...range, max: row.requestedCount })
      if (conversations.length === 0) {
        const calls = yield* source.callLog(row.projectId, { ...range, max: maxLogCalls })
        yield* store.progress(row, { phase: "load", done: 0, total: 1, sampleCount: calls.length })
        for (const call of calls) yield* run.add({ conversation: call.requestId, inclusion: 1 }, [call])
        return { source: "call_log" as const, configVersions: [] }
      }
      let sampleCount = 0
      for (const [done, conversation] of conversations.entries()) {
        yield* store.progress(row, { phase: "load", done, total: conversations.length, sampleCount })
        const calls = (yield* source.calls(row.projectId, conversation)).filter(
          ({ capturedAt }) => capturedAt < row.rangeEnd.getTime()
        )
        yield* run.add(conversation, calls)
        sampleCount += calls.length
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
        const loaded = yield* load(row, run)
        const now = yield* store.find(row.id)
        const progress = { done: now?.done ?? 0, total: now?.total ?? 0, sampleCount: now?.sampleCount ?? 0 }
        yield* store.progress(row, { ...progress, phase: "static" })
        const traffic = yield* source.traffic(row.projectId, { from: row.rangeStart, to: row.rangeEnd })
        const { isSufficient, report } = yield* run.report({
          ...loaded,
          fromMillis: row.rangeStart.getTime(),
          toMillis: row.rangeEnd.getTime(),
          traffic,
          seed: row.seed
        })
        yield* store.progress(row, { ...progress, phase: "report" })
        yield* store.finish(row, {
          status: isSufficient ? "succeeded" : "insufficient_data",
          error: null,
          report: yield* seal.seal(row.id, report)
        })
        return "ended" as const
      })
    )

  const failed = (row: AnalysisRow, error: string) =>
    Effect.as(store.finish(row, { status: "failed", error, report: null }), "ended" as const)

  const run = (row: AnalysisRow): Effect.Effect<void, StoreUnavailable> =>
    Effect.gen(function* () {
      if (row.epoch > maxClaims) {
        yield* failed(row, `It did not end in ${maxClaims} attempts.`)
        return
      }
      const end = yield* Effect.raceFirst(
        analyse(row).pipe(
          Effect.catchTags({
            EngineFailed: ({ reason }: EngineFailed) => failed(row, `The engine has failed: ${reason.slice(0, 200)}.`),
            SealingUnavailable: ({ message }: SealingUnavailable) => failed(row, message)
          })
        ),
        watch(row)
      )
      if (end === "cancelled") yield* store.finish(row, { status: "cancelled", error: null, report: null })
    })

  return AnalysisRunner.of({
    runOne: Effect.flatMap(store.claim(node), (row) =>
      row === undefined ? Effect.succeed(false) : Effect.as(run(row), true)
    )
  })
})

const cachesOf = (catalog: Catalog["Type"]): Readonly<Record<string, PromptCache>> =>
  Object.fromEntries(
    catalog
      .callerSnapshot()
      .models.flatMap(({ cache, id }) => (cache === null || cache === undefined ? [] : [[id, cache]]))
  )
