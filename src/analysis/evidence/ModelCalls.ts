import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { AssistantMessage, ChatRequest } from "../../domain/Chat.ts"

/** A request as it is asked of any model: nothing of it may depend on who serves it, so it has no routing. */
export type AskedRequest = Pick<ChatRequest, "messages" | "tools"> &
  Partial<
    Pick<
      ChatRequest,
      | "toolChoice"
      | "parallelToolCalls"
      | "responseFormat"
      | "maxOutputTokens"
      | "temperature"
      | "topP"
      | "topK"
      | "stop"
      | "seed"
      | "frequencyPenalty"
      | "presencePenalty"
      | "effort"
      | "reasoning"
      | "verbosity"
    >
  >

/** What an analysis asks of a model. Without a cap of the client the model's own limit holds, and what is left of the spend cap. */
export type Question = AskedRequest & {
  /** A concrete id. */
  readonly model: string
  /** Id of the captured call whose text it has. */
  readonly sample: string
}

/** An answer with what it has cost. */
export interface Answer {
  readonly message: AssistantMessage
  readonly costMicroUsd: number
}

/** The spend cap of the analysis does not cover a complete answer. */
export class CapReached extends Data.TaggedError("CapReached")<{
  readonly availableMicroUsd: number
}> {}

/** Code of an answer that the spend cap has cut. */
export const cutByFunds = "output_capped_by_funds"

/** The model gave no answer; what it may have cost is in the ledger. */
export class ModelFailed extends Data.TaggedError("ModelFailed")<{
  readonly code: string
  /** Whether the model takes no such request or answers it with nothing; money, limits, outages and cancellations are not its fault. */
  readonly isModelsFault: boolean
}> {}

/** The captured call was erased or has expired, or its text may not be sent any more: nothing was asked. */
export class SampleGone extends Data.TaggedError("SampleGone")<{ readonly sample: string }> {}

/** Pays for calls of models out of the spend cap of one analysis. */
export class ModelCalls extends Context.Tag("gateway/analysis/ModelCalls")<
  ModelCalls,
  { readonly ask: (question: Question) => Effect.Effect<Answer, CapReached | ModelFailed | SampleGone> }
>() {}
