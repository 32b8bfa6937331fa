import * as Schema from "effect/Schema"
import { CallError, CallStatus, CandidatePool, Cost, endpoints, routingReasons } from "../domain/Call.ts"
import { finishReasons } from "../domain/ChatEvent.ts"
import { promptClasses } from "../domain/PromptClass.ts"
import type { Facts } from "./Facts.ts"

/** Facts as samples have them: sealed by this gateway, of this or an earlier version. */

const exact = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const Usage = Schema.Struct({
  inputTokens: Schema.Number,
  cacheReadTokens: Schema.Number,
  cacheWriteTokens: Schema.Number,
  outputTokens: Schema.Number,
  reasoningTokens: Schema.Number,
  details: Schema.Struct({
    inputAudioTokens: Schema.Number,
    outputAudioTokens: Schema.Number,
    acceptedPredictionTokens: Schema.Number,
    rejectedPredictionTokens: Schema.Number
  })
})

const rates = {
  input: Schema.Number,
  output: Schema.Number,
  cacheRead: exact(Schema.Number),
  cacheWrite: exact(Schema.Number),
  audioInput: exact(Schema.Number),
  audioOutput: exact(Schema.Number)
}
/** The prices of a call as it was charged by; of the log of calls too. */
export const StoredPrices = Schema.Struct({
  ...rates,
  tiers: exact(Schema.Array(Schema.Struct({ ...rates, abovePromptTokens: Schema.Number }))),
  serviceTier: exact(Schema.String),
  webSearchMicroUsd: exact(Schema.Number)
})

const Params = Schema.Struct({
  stream: Schema.Boolean,
  maxOutputTokens: exact(Schema.Number),
  temperature: exact(Schema.Number),
  topP: exact(Schema.Number),
  topK: exact(Schema.Number),
  stop: exact(Schema.Array(Schema.String)),
  frequencyPenalty: exact(Schema.Number),
  presencePenalty: exact(Schema.Number),
  seed: exact(Schema.String),
  toolChoice: exact(Schema.Unknown),
  parallelToolCalls: exact(Schema.Boolean),
  responseFormat: exact(Fields),
  effort: exact(Schema.Union(Schema.String, Schema.Number)),
  reasoning: exact(Fields),
  verbosity: exact(Schema.String),
  serviceTier: exact(Schema.String),
  modalities: exact(Schema.Array(Schema.String)),
  cacheMark: exact(Schema.Literal("5m", "1h")),
  webSearch: exact(Schema.Literal(true)),
  predictionLength: exact(Schema.Number),
  stopCount: exact(Schema.Number),
  textId: exact(Schema.String)
})

const Stored: Schema.Schema<Facts> = Schema.Struct({
  class: Schema.NullOr(Schema.Literal(...promptClasses)),
  endpoint: Schema.Literal(...endpoints),
  status: CallStatus,
  error: Schema.NullOr(CallError),
  candidatePool: CandidatePool,
  decision: Schema.Struct({
    requestedModel: Schema.String,
    reason: Schema.Literal(...routingReasons),
    alpha: Schema.NullOr(Schema.Number),
    routingConfig: Schema.NullOr(Schema.String),
    policyVersion: Schema.Number
  }),
  attempts: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      model: Schema.String,
      status: CallStatus,
      error: Schema.NullOr(CallError),
      cost: Cost,
      usage: Schema.NullOr(Usage),
      startedAt: Schema.Number,
      latencyMillis: Schema.Number
    })
  ),
  usage: Schema.NullOr(Usage),
  isUsageReported: exact(Schema.Boolean),
  cost: Cost,
  prices: Schema.NullOr(StoredPrices),
  latencyMillis: Schema.Number,
  firstContentMillis: Schema.NullOr(Schema.Number),
  params: Params,
  maxMark: exact(Schema.NullOr(Schema.Literal("5m", "1h"))),
  finish: Schema.NullOr(Schema.Literal(...finishReasons)),
  toolsOffered: Schema.Array(Schema.String)
})

/** None: the facts are not of a shape that any version has written. */
export const decodeFacts = Schema.decodeUnknownOption(Stored)
