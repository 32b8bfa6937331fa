import type { Attempt, AttemptUse, CallRecord, FailedUsage } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { toStorable } from "../domain/StorableText.ts"
import type { Usage } from "../domain/Usage.ts"
import type { SealedAnswer } from "./Hold.ts"

/** Untrusted text is cut to this, so that rows are bounded. */
const maxTextLength = 2_048

/** One row of the table `call`, as `ledger_batch` reads it from JSON. */
export const callRow = (callId: string, caller: CallerShape, record: CallRecord) => ({
  id: callId,
  key_id: caller.keyId,
  project_id: caller.projectId,
  account_id: caller.accountId,
  requested_model: storable(record.requestedModel),
  model: storableOrNull(record.model),
  provider: storableOrNull(record.provider),
  endpoint: record.endpoint,
  stream: record.stream,
  token_doctor: record.tokenDoctor,
  status: record.status,
  error_code: storableOrNull(record.error?.code),
  error_message: storableOrNull(record.error?.message),
  cost_micro_usd: record.cost.amount_microusd,
  cost_basis: record.cost.basis,
  input_tokens: record.usage?.inputTokens ?? null,
  cache_read_tokens: record.usage?.cacheReadTokens ?? null,
  cache_write_tokens: record.usage?.cacheWriteTokens ?? null,
  output_tokens: record.usage?.outputTokens ?? null,
  reasoning_tokens: record.usage?.reasoningTokens ?? null,
  input_audio_tokens: record.usage?.details.inputAudioTokens ?? null,
  output_audio_tokens: record.usage?.details.outputAudioTokens ?? null,
  accepted_prediction_tokens: record.usage?.details.acceptedPredictionTokens ?? null,
  rejected_prediction_tokens: record.usage?.details.rejectedPredictionTokens ?? null,
  prices: record.prices,
  latency_millis: record.latencyMillis,
  first_content_millis: record.firstContentMillis,
  routing_config: storableOrNull(record.routingConfig),
  reason: record.reason,
  policy_version: record.policyVersion,
  pool: record.pool.models.map(storable),
  client_request_id: storableOrNull(record.clientRequestId),
  alpha: record.alpha,
  excluded: JSON.stringify(record.excluded),
  baseline_model: storableOrNull(record.baseline?.model),
  baseline_micro_usd: record.baseline?.cost ?? null,
  features: storableOrNull(record.features),
  conversation: record.conversation,
  origin: record.origin,
  started_at_millis: record.startedAtMillis
})

/** What a hold is for, as `ledger_batch` reads it from JSON. */
export const holdRow = (callId: string, { accountId, billingMode, keyId, projectId }: CallerShape) => ({
  id: callId,
  key_id: keyId,
  project_id: projectId,
  account_id: accountId,
  managed: billingMode === "managed"
})

/** One row of the table `attempt`. */
export const attemptRow = (
  callId: string,
  attempt: Attempt,
  use: AttemptUse | undefined,
  failed: FailedUsage | null,
  position: number
) => ({
  call_id: callId,
  position,
  provider: storable(attempt.provider),
  model: storable(attempt.model),
  status: attempt.status,
  error_code: storableOrNull(attempt.error?.code),
  error_message: storableOrNull(attempt.error?.message),
  cost_micro_usd: attempt.cost.amount_microusd,
  cost_basis: attempt.cost.basis,
  latency_millis: attempt.latency_ms,
  started_at_millis: use?.startedAtMillis ?? null,
  ...usageColumns(failed?.usage ?? use?.usage ?? null),
  ...(failed !== null && { provider_cost_micro_usd: failed.cost })
})

const usageColumns = (usage: Usage | null) =>
  usage !== null && {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens
  }

/** What `idempotency_keep` reads from JSON. */
export const keptRow = (callId: string, answer: SealedAnswer) => ({
  key_id: answer.keyId,
  idempotency_key: answer.idempotencyKey,
  run_id: callId,
  status: answer.status,
  content_type: answer.contentType,
  headers: answer.headers,
  answer: Buffer.from(answer.sealed).toString("base64"),
  kept_millis: answer.keptMillis
})

export const storable = (text: string): string =>
  toStorable(text.length > maxTextLength ? text.slice(0, maxTextLength) : text)

const storableOrNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : storable(text)
