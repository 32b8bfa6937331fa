import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MasterKey, type MasterKeyShape } from "../../credentials/MasterKey.ts"
import * as Sealing from "../../credentials/Sealing.ts"
import type { SealingUnavailable } from "../../domain/AccountError.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"

export interface ReportSealShape {
  /** Fails where reports could not be kept. */
  readonly check: Effect.Effect<void, SealingUnavailable>
  readonly seal: (id: string, report: AnalysisReport) => Effect.Effect<Uint8Array, SealingUnavailable>
  /** `null` when no master key in force opens it. */
  readonly open: (id: string, sealed: Uint8Array) => Effect.Effect<AnalysisReport | null>
}

/** Reports as they are stored: sealed under the master key, each only as that of its own analysis. */
export class ReportSeal extends Context.Tag("gateway/analysis/ReportSeal")<ReportSeal, ReportSealShape>() {
  static readonly layer: Layer.Layer<ReportSeal, never, MasterKey> = Layer.effect(
    this,
    Effect.map(MasterKey, (masterKey) => make(masterKey))
  )
}

const purpose = "analysis reports"
const contextOf = (id: string): string => `report of analysis ${id}`

const make = (masterKey: MasterKeyShape): ReportSealShape => ({
  check: Effect.asVoid(masterKey.derived(purpose)),
  seal: (id, report) =>
    Effect.map(masterKey.derived(purpose), (key) => Sealing.seal(key, contextOf(id), JSON.stringify(report))),
  open: (id, sealed) =>
    masterKey.accepted(purpose).pipe(
      Effect.map((keys) => Sealing.open(keys, contextOf(id), sealed)),
      // sealed by this gateway, in the shape that it wrote
      Effect.map((text) => (text === undefined ? null : (JSON.parse(text) as AnalysisReport))),
      Effect.catchTag("SealingUnavailable", () => Effect.succeed(null))
    )
})
