import type { CallRecord } from "../domain/Call.ts"
import type { CapturedBlock, CapturedCall, CapturedParams, CapturedPrices } from "../domain/CapturedCall.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { FinishReason } from "../domain/ChatEvent.ts"
import { type PromptClass, promptClasses } from "../domain/PromptClass.ts"
import { maxMarkOf } from "./SentMarks.ts"

/** What a sample says of its call besides the blocks: sealed as JSON, with names that need no translation. */
export type Facts = Pick<
  CapturedCall,
  | "class"
  | "endpoint"
  | "status"
  | "error"
  | "candidatePool"
  | "decision"
  | "attempts"
  | "usage"
  | "isUsageReported"
  | "cost"
  | "prices"
  | "latencyMillis"
  | "firstContentMillis"
> & {
  readonly params: CapturedParams
  readonly finish: FinishReason | null
  /** The longest of its marks for the provider's cache that the last attempt may have been sent. Not there in earlier versions. */
  readonly maxMark?: CapturedBlock["cacheMark"]
  readonly toolsOffered: ReadonlyArray<string>
}

export const factsOf = (record: CallRecord, request: ChatRequest, finish: FinishReason | null): Facts => ({
  class: classOf(record),
  endpoint: record.endpoint,
  status: record.status,
  error: record.error,
  params: paramsOf(request),
  maxMark: maxMarkOf(record.attemptUses.at(-1)?.dropped ?? []),
  toolsOffered: request.tools.map((tool) => (tool.type === "custom" ? tool.custom.name : tool.function.name)),
  candidatePool: record.pool,
  decision: {
    requestedModel: record.requestedModel,
    reason: record.reason,
    alpha: record.alpha,
    routingConfig: record.routingConfig,
    policyVersion: record.policyVersion
  },
  attempts: record.attempts.map(({ cost, error, latency_ms, model, provider, status }, at) => ({
    provider,
    model,
    status,
    error,
    cost,
    usage: record.attemptUses[at]?.usage ?? null,
    startedAt: record.attemptUses[at]?.startedAtMillis ?? record.startedAtMillis,
    latencyMillis: latency_ms
  })),
  usage: record.usage,
  isUsageReported: record.attemptUses.at(-1)?.isReported ?? false,
  cost: record.cost,
  prices: record.prices === null ? null : (JSON.parse(record.prices) as CapturedPrices),
  latencyMillis: record.latencyMillis,
  firstContentMillis: record.firstContentMillis,
  finish
})

/** The likeliest of the classes that the router saw. */
const classOf = ({ features }: CallRecord): PromptClass | null => {
  if (features === null) return null
  const { c } = JSON.parse(features) as { readonly c: ReadonlyArray<number> }
  return promptClasses[c.indexOf(Math.max(...c))] ?? null
}

const paramsOf = (request: ChatRequest): CapturedParams => {
  const { maxTokens, mode, summary } = request.reasoning
  const reasoning = { mode, maxTokens, summary, ...(request.reasoning.exclude && { exclude: true }) }
  return {
    stream: request.stream,
    ...present({
      maxOutputTokens: request.maxOutputTokens,
      temperature: request.temperature,
      topP: request.topP,
      topK: request.topK,
      frequencyPenalty: request.frequencyPenalty,
      presencePenalty: request.presencePenalty,
      seed: request.seed === undefined ? undefined : String(request.seed),
      toolChoice: request.toolChoice,
      parallelToolCalls: request.parallelToolCalls,
      responseFormat: request.responseFormat,
      effort: request.effort,
      verbosity: request.verbosity,
      serviceTier: request.serviceTier,
      modalities: request.modalities,
      cacheMark: request.cacheControl === undefined ? undefined : (request.cacheControl.ttl ?? "5m"),
      predictionLength: request.prediction === undefined ? undefined : JSON.stringify(request.prediction).length
    }),
    ...(request.stop.length > 0 && { stop: request.stop }),
    ...(Object.values(reasoning).some((one) => one !== undefined) && { reasoning: present(reasoning) }),
    ...(request.webSearchOptions !== undefined && { webSearch: true as const })
  }
}

/** Without what is `undefined`. */
const present = <A extends object>(fields: A): { [K in keyof A]?: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]?: Exclude<A[K], undefined>
  }
