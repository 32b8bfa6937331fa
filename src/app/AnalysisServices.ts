import * as Layer from "effect/Layer"
import { AnalysisActions } from "../analysis/actions/AnalysisActions.ts"
import { ReplayItems } from "../analysis/evidence/ReplayItemStore.ts"
import { ReplayRun } from "../analysis/evidence/ReplayRun.ts"
import { Analyses } from "../analysis/job/Analyses.ts"
import { AnalysisEngine } from "../analysis/job/AnalysisEngine.ts"
import { AnalysisReading } from "../analysis/job/AnalysisReading.ts"
import { AnalysisRunner, running } from "../analysis/job/AnalysisRunner.ts"
import { AnalysisSource } from "../analysis/job/AnalysisSource.ts"
import { AnalysisStore } from "../analysis/job/AnalysisStore.ts"
import { CallLogStore } from "../analysis/job/CallLogStore.ts"
import { ReportSeal } from "../analysis/job/ReportSeal.ts"
import { ExperimentRunner, experimenting } from "../analysis/receipts/ExperimentRunner.ts"
import { ExperimentStore } from "../analysis/receipts/ExperimentStore.ts"
import { MeasuredCallStore } from "../analysis/receipts/MeasuredCallStore.ts"

/** Analyses for the account API, and what runs them. */
export const analysisServices = Layer.mergeAll(
  Analyses.layer,
  AnalysisActions.layer,
  Layer.provide(running, AnalysisRunner.layer),
  experimenting.pipe(Layer.provide(ExperimentRunner.layer), Layer.provide(MeasuredCallStore.layer))
).pipe(
  Layer.provide([AnalysisReading.layer, Layer.provide(ReplayRun.layer, ReplayItems.layer)]),
  Layer.provide([
    AnalysisEngine.layer,
    AnalysisStore.layer,
    ExperimentStore.layer,
    ReportSeal.layer,
    Layer.provide(AnalysisSource.layer, CallLogStore.layer)
  ])
)
