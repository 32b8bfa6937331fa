import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Caller, type CallerShape } from "../../domain/Caller.ts"
import type { AssistantMessage, ChatRequest, ToolCall } from "../../domain/Chat.ts"
import type { Answer as ModelAnswer } from "../../domain/Completion.ts"
import type { CallFailure, ProvidersFailed, RateLimited, StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator, nextRequestId } from "../../domain/IdGenerator.ts"
import { KeyId } from "../../domain/Ids.ts"
import type { RateLimit } from "../../domain/RateLimitStatus.ts"
import type { Completion } from "../../gateway/CallProgram.ts"
import { Gateway } from "../../gateway/Gateway.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import {
  type Answer,
  CapReached,
  cutByFunds,
  ModelCalls,
  ModelFailed,
  type Question,
  SampleGone
} from "./ModelCalls.ts"

/** Whose money an analysis spends, up to its cap. */
export interface SpendCap {
  readonly analysisId: string
  readonly maxSpendMicroUsd: number
  readonly caller: Pick<CallerShape, "projectId" | "accountId" | "billingMode">
  /** Of the project; `null`: as configured for all. */
  readonly rateLimit: RateLimit | null
}

/**
 * Calls through the gateway that are held and settled against a scope of the analysis, which stands where a key's limit does: the
 * cap holds under concurrency, on any node and after a crash, like every limit. What a rate limit of the project rejects is asked
 * again later. Before each call `mayFlow` says whether the text of its sample may still be sent.
 */
export const layer = (
  cap: SpendCap,
  mayFlow: (sample: string) => Effect.Effect<boolean, StoreUnavailable>
): Layer.Layer<ModelCalls, never, Gateway | IdGenerator | Scopes> =>
  Layer.effect(
    ModelCalls,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const ids = yield* IdGenerator
      const scopes = yield* Scopes
      const keyId = KeyId.make(cap.analysisId)
      const caller: CallerShape = {
        ...cap.caller,
        keyId,
        // the limits of keys are for clients; those of the project still hold
        rateLimits: { key: noKeyLimit, project: cap.rateLimit }
      }
      yield* Effect.orDie(scopes.open("key", keyId, cap.maxSpendMicroUsd))
      let answeredAtMillis = yield* Clock.currentTimeMillis

      // one at a time, so that what waits does not fill the project's list of refused requests
      const waiting = yield* Effect.makeSemaphore(1)

      const kept = ({ sample }: Question) =>
        Effect.filterOrFail(mayFlow(sample), Boolean, () => new SampleGone({ sample }))
      const once = (question: Question) =>
        Effect.flatMap(kept(question), () =>
          gateway.complete(requestOf(question), {
            requestId: nextRequestId(ids),
            endpoint: "embedded",
            origin: "analysis",
            clientRequestId: null
          })
        ).pipe(
          Effect.provideService(Caller, caller),
          Effect.tap(() =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              answeredAtMillis = now
            })
          )
        )
      const again = (question: Question, limited: RateLimited): Effect.Effect<Completion, CallFailure | SampleGone> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const waitMillis = Math.max(minWaitMillis, limited.retryAfterMillis)
          if (now + waitMillis > answeredAtMillis + maxUnansweredMillis) return limited
          return Effect.catchTag(Effect.delay(once(question), waitMillis), "RateLimited", (still) =>
            again(question, still)
          )
        })
      const complete = (question: Question) =>
        Effect.catchTag(once(question), "RateLimited", (limited) => waiting.withPermits(1)(again(question, limited)))

      return {
        ask: (question: Question) =>
          complete(question).pipe(
            Effect.mapError((failure) => {
              if (failure._tag === "SampleGone") return failure
              return failure._tag === "InsufficientFunds"
                ? new CapReached({ availableMicroUsd: failure.availableMicroUsd })
                : new ModelFailed({ code: codeOf(failure), isModelsFault: isModelsFault(failure) })
            }),
            Effect.flatMap(
              ({ answer, metadata }): Effect.Effect<Answer, CapReached | ModelFailed> =>
                metadata.notes?.includes(cutByFunds) === true
                  ? cutShort(question)
                  : Effect.succeed({ message: messageOf(answer), costMicroUsd: metadata.cost.amount_microusd })
            )
          )
      }
    })
  )

/** A rate limit that lets no call through for so long will not: calls that it rejects fail. */
const maxUnansweredMillis = 10 * 60_000
/** Some limits say that they admit a call very soon, and clients of the project call as well. */
const minWaitMillis = 1_000

/** Codes of attempts whose response has come and cannot be used. */
const unusableCodes = ["empty_completion", "provider_bad_response"]

const lastCode = ({ attempts, endedBy }: ProvidersFailed): string | undefined =>
  (endedBy ?? attempts.at(-1)?.error)?.code

const codeOf = (failure: CallFailure): string =>
  failure._tag === "ProvidersFailed"
    ? (lastCode(failure) ?? "provider_unavailable")
    : "code" in failure
      ? failure.code
      : failure._tag

const isModelsFault = (failure: CallFailure): boolean =>
  failure._tag === "InvalidRequest" ||
  (failure._tag === "ProvidersFailed" && unusableCodes.includes(lastCode(failure) ?? ""))

/** No answer to compare. Without a cap of the client a call takes a part of what is left, so that there may be money for others. */
const cutShort = ({ maxOutputTokens }: Question): Effect.Effect<never, CapReached | ModelFailed> =>
  maxOutputTokens === undefined
    ? new ModelFailed({ code: cutByFunds, isModelsFault: false })
    : new CapReached({ availableMicroUsd: 0 })

const noKeyLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

/** Pinned, without fallback, not stored by the provider and not captured. */
const requestOf = (question: Question): ChatRequest => ({
  model: question.model,
  messages: question.messages,
  tools: question.tools,
  toolChoice: question.toolChoice,
  stream: false,
  includeUsage: true,
  tokenDoctor: false,
  maxOutputTokens: question.maxOutputTokens,
  temperature: question.temperature,
  topP: question.topP,
  topK: question.topK,
  stop: question.stop ?? [],
  frequencyPenalty: question.frequencyPenalty,
  presencePenalty: question.presencePenalty,
  seed: question.seed,
  logprobs: undefined,
  topLogprobs: undefined,
  parallelToolCalls: question.parallelToolCalls,
  responseFormat: question.responseFormat,
  effort: question.effort,
  reasoning: { maxTokens: undefined, summary: undefined, ...question.reasoning, exclude: true },
  verbosity: question.verbosity,
  serviceTier: undefined,
  metadata: undefined,
  store: false,
  safetyIdentifier: undefined,
  promptCacheKey: undefined,
  promptCacheOptions: undefined,
  promptCacheRetention: undefined,
  prediction: undefined,
  modalities: undefined,
  audio: undefined,
  moderation: undefined,
  webSearchOptions: undefined,
  user: undefined,
  routing: {
    models: { allow: null, deny: [] },
    providers: { allow: null, deny: [] },
    routingConfig: undefined,
    alpha: undefined,
    maxInputPriceMicroUsdPerMillion: undefined,
    maxOutputPriceMicroUsdPerMillion: undefined,
    enableFallback: false
  }
})

const messageOf = ({ refusal, text, toolCalls }: ModelAnswer): AssistantMessage => ({
  role: "assistant",
  content: text,
  ...(refusal === "" ? {} : { refusal }),
  ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallOf) })
})

const toolCallOf = (call: ModelAnswer["toolCalls"][number]): ToolCall =>
  call.kind === "function"
    ? { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }
    : { id: call.id, type: "custom", custom: { name: call.name, input: call.arguments } }
