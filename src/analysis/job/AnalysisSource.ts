import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RoutingReplay } from "../../account/replay/RoutingReplay.ts"
import { Captured } from "../../capture/Captured.ts"
import type { AnalysedCall, CapturedConversation } from "../../domain/CapturedCall.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import type { RoutingFacts } from "../actions/Recommend.ts"
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
  ) => Effect.Effect<ReadonlyArray<AnalysedCall>, StoreUnavailable>
  /** The newest calls of the log, without prompts. */
  readonly callLog: (
    project: ProjectId,
    range: Range & { readonly max: number }
  ) => Effect.Effect<ReadonlyArray<AnalysedCall>, StoreUnavailable>
  readonly traffic: (project: ProjectId, range: Range) => Effect.Effect<Traffic, StoreUnavailable>
  /** What the router would do with the calls of the range, and which models have failed in it. */
  readonly routing: (project: ProjectId, range: Range) => Effect.Effect<RoutingFacts, StoreUnavailable>
}

/** What analyses read. */
export class AnalysisSource extends Context.Tag("gateway/analysis/AnalysisSource")<
  AnalysisSource,
  AnalysisSourceShape
>() {
  /** What projects collect, and the log of calls. */
  static readonly layer: Layer.Layer<AnalysisSource, never, CallLogStore | Captured | RoutingReplay> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const log = yield* CallLogStore
  const { calls, conversations } = yield* Captured
  const replays = yield* RoutingReplay
  return AnalysisSource.of({
    conversations,
    calls,
    callLog: log.calls,
    traffic: log.traffic,
    routing: (projectId, range) =>
      Effect.gen(function* () {
        const attempts = yield* log.attempts(projectId, range)
        const outlook = yield* Effect.catchTag(replays.outlook(projectId, range), "NotFound", () =>
          Effect.succeed(undefined)
        )
        return { projectId, outlook, attempts }
      })
  })
})
