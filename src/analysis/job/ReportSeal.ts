import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MasterKey, type MasterKeyShape } from "../../credentials/MasterKey.ts"
import * as Sealing from "../../credentials/Sealing.ts"
import { SealingUnavailable } from "../../domain/AccountError.ts"
import { AnalysisReport } from "../../wire/account/Analyses.ts"

export interface ReportSealShape {
  /** Fails where reports could not be kept. */
  readonly check: Effect.Effect<void, SealingUnavailable>
  readonly seal: (id: string, report: AnalysisReport) => Effect.Effect<Uint8Array, SealingUnavailable>
  /** `null` for what an earlier version wrote in another form; fails where no configured master key opens it. */
  readonly open: (id: string, sealed: Uint8Array) => Effect.Effect<AnalysisReport | null, SealingUnavailable>
  /** The same report under the current master key; `undefined` when no configured one opens it. */
  readonly resealed: (
    id: string,
    sealed: Uint8Array
  ) => Effect.Effect<"current" | Uint8Array | undefined, SealingUnavailable>
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

/** Reports of earlier versions have fewer fields; what has none of their shape is not opened. */
const Stored = Schema.parseJson(AnalysisReport)
const encodeReport = Schema.encode(Stored)
const decodeReport = Schema.decodeUnknown(Stored)

const make = (masterKey: MasterKeyShape): ReportSealShape => ({
  check: Effect.asVoid(masterKey.derived(purpose)),
  seal: (id, report) =>
    Effect.zipWith(masterKey.derived(purpose), Effect.orDie(encodeReport(report)), (key, text) =>
      Sealing.seal(key, contextOf(id), text)
    ),
  open: (id, sealed) =>
    masterKey.accepted(purpose).pipe(
      Effect.map((keys) => Sealing.open(keys, contextOf(id), sealed)),
      Effect.flatMap((text) =>
        text === undefined
          ? Effect.fail(otherMasterKey)
          : Effect.orElseSucceed(decodeReport(text), (): AnalysisReport | null => null)
      )
    ),
  resealed: (id, sealed) =>
    Effect.zipWith(masterKey.derived(purpose), masterKey.accepted(purpose), (current, accepted) => {
      if (Sealing.openWith(current, contextOf(id), sealed) !== undefined) return "current"
      const text = Sealing.open(accepted, contextOf(id), sealed)
      return text === undefined ? undefined : Sealing.seal(current, contextOf(id), text)
    })
})

const otherMasterKey = new SealingUnavailable({
  message:
    "The report cannot be read: it is sealed under another key than GATEWAY_MASTER_KEY. Set that key in GATEWAY_MASTER_KEY_PREVIOUS."
})
