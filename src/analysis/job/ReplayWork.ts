import * as Effect from "effect/Effect"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import { withAnswers } from "../evidence/AnsweredReport.ts"
import { type Answered, ReplayRun } from "../evidence/ReplayRun.ts"
import type { RequestedReplay } from "../evidence/RequestedReplay.ts"
import { SampleList } from "../evidence/Samples.ts"
import { inRange, rangeOf } from "./AnalysisRange.ts"
import { AnalysisSource } from "./AnalysisSource.ts"
import { type AnalysisRow, AnalysisStore } from "./AnalysisStore.ts"
import type { AnalysisWork } from "./AnalysisWork.ts"
import { ReportSeal } from "./ReportSeal.ts"

/** Asks the questions of a replay and adds the answers to the report of its analysis. */
export const make: Effect.Effect<
  (row: AnalysisRow, replay: RequestedReplay) => AnalysisWork,
  never,
  AnalysisSource | AnalysisStore | ReplayRun | ReportSeal
> = Effect.gen(function* () {
  const replays = yield* ReplayRun
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const seal = yield* ReportSeal

  const samplesOf = (row: AnalysisRow, { questions }: RequestedReplay) =>
    Effect.gen(function* () {
      const samples = new SampleList(questions)
      const range = { ...rangeOf(row), max: row.requestedCount }
      for (const each of yield* source.conversations(row.projectId, range)) {
        samples.add(inRange(row, yield* source.calls(row.projectId, each)))
      }
      return samples
    })

  return (row, replay) => {
    const answered: Array<Answered> = []
    const progress = (phase: "plan" | "replay" | "report") =>
      store.progress(row, {
        phase,
        done: answered.length,
        total: replay.questions.length,
        sampleCount: row.sampleCount
      })
    const opened = row.reportSealed === null ? Effect.succeed(null) : seal.open(row.id, row.reportSealed)
    const added = (report: AnalysisReport) =>
      Effect.map(replays.spent(row), (spent) => withAnswers(report, answered, replay, spent))

    return {
      run: Effect.gen(function* () {
        const report = yield* opened
        if (report === null) return { status: "failed", error: notOpened, report }
        yield* progress("plan")
        const samples = yield* samplesOf(row, replay)
        yield* progress("replay")
        yield* replays.run(row, replay, samples, (one) =>
          Effect.suspend(() => {
            answered.push(one)
            return Effect.asVoid(progress("replay"))
          })
        )
        yield* progress("report")
        return { status: "succeeded", error: null, report: yield* added(report) }
      }),
      partial: Effect.flatMap(opened, (report) => (report === null ? Effect.succeed(null) : added(report)))
    }
  }
})

const notOpened = "The report that the replay belongs to cannot be decrypted."
