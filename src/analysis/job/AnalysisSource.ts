import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CapturedCall, CapturedConversation } from "../../domain/CapturedCall.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { CallLogStore, type Range, type Traffic } from "./CallLogStore.ts"

export interface AnalysisSourceShape {
  /** Captured conversations with calls in the range, a sample in hash order; none where nothing is captured. */
  readonly conversations: (
    project: ProjectId,
    range: Range & { readonly max: number }
  ) => Effect.Effect<ReadonlyArray<CapturedConversation>, StoreUnavailable>
  /** All captured calls of one, oldest first. */
  readonly calls: (
    project: ProjectId,
    conversation: Pick<CapturedConversation, "configVersion" | "conversation">
  ) => Effect.Effect<ReadonlyArray<CapturedCall>, StoreUnavailable>
  /** The newest calls of the log, without prompts. */
  readonly callLog: (
    project: ProjectId,
    range: Range & { readonly max: number }
  ) => Effect.Effect<ReadonlyArray<CapturedCall>, StoreUnavailable>
  readonly traffic: (project: ProjectId, range: Range) => Effect.Effect<Traffic, StoreUnavailable>
}

/** What analyses read. */
export class AnalysisSource extends Context.Tag("gateway/analysis/AnalysisSource")<
  AnalysisSource,
  AnalysisSourceShape
>() {
  /** The log of calls alone: no prompts. */
  static readonly layerCallLog: Layer.Layer<AnalysisSource, never, CallLogStore> = Layer.effect(
    this,
    Effect.map(CallLogStore, (log) => ({
      conversations: () => Effect.succeed([]),
      calls: () => Effect.succeed([]),
      callLog: log.calls,
      traffic: log.traffic
    }))
  )
}
