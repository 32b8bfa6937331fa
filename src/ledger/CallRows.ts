import type { Attempt, AttemptUse, CallRecord, FailedUsage } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { toStorable } from "../domain/StorableText.ts"
import type { Usage } from "../domain/Usage.ts"
import type { SealedAnswer } from "./Hold.ts"
import type { ModelNumbers } from "./ModelNumberStore.ts"

/** Untrusted text is cut to this, so that rows are bounded. */
const maxTextLength = 2_048

/** What is written of a call, as `ledger_apply` reads it from JSON; columns that are left out are null. */
export interface LoggedCall {
  /** Its row in the table `call`, as JSON. */
  readonly call: string
  /** Its rows in the table `attempt`; none where that of the call tells its only one. */
  readonly attempts: ReadonlyArray<object>
}

/** `numbersOf` gives the numbers that stand for the models of the pool, where all are known. */
export const loggedCall = (
  callId: string,
  caller: CallerShape,
  record: CallRecord,
  numbersOf: ModelNumbers["of"]
): LoggedCall => {
  const only = onlyAttempt(record)
  const row = JSON.stringify(callRow(callId, caller, record, only))
  return {
    call: `${row.slice(0, -1)},${poolJson(record.pool.models, numbersOf)}}`,
    attempts:
      only !== undefined
        ? []
        : record.attempts.map((attempt, position) =>
            attemptRow(callId, attempt, record.attemptUses[position], record.failedUsage[position] ?? null, position)
          )
  }
}

const callRow = (callId: string, caller: CallerShape, record: CallRecord, only: OnlyAttempt | undefined) => {
  const { baseline, cost, error, usage } = record
  return {
    id: callId,
    key_id: caller.keyId,
    project_id: caller.projectId,
    account_id: caller.accountId,
    requested_model: storable(record.requestedModel),
    model: storableIfSet(record.model),
    provider: storableIfSet(record.provider),
    endpoint: record.endpoint,
    stream: record.stream,
    token_doctor: record.tokenDoctor,
    status: record.status,
    error_code: storableIfSet(error?.code),
    error_message: storableIfSet(error?.message),
    cost_micro_usd: cost.amount_microusd,
    cost_basis: cost.basis,
    input_tokens: usage?.inputTokens,
    cache_read_tokens: usage?.cacheReadTokens,
    cache_write_tokens: usage?.cacheWriteTokens,
    output_tokens: usage?.outputTokens,
    reasoning_tokens: usage?.reasoningTokens,
    input_audio_tokens: usage?.details.inputAudioTokens,
    output_audio_tokens: usage?.details.outputAudioTokens,
    accepted_prediction_tokens: usage?.details.acceptedPredictionTokens,
    rejected_prediction_tokens: usage?.details.rejectedPredictionTokens,
    prices: record.prices ?? undefined,
    latency_millis: record.latencyMillis,
    first_content_millis: record.firstContentMillis ?? undefined,
    routing_config: storableIfSet(record.routingConfig),
    reason: record.reason,
    policy_version: record.policyVersion,
    client_request_id: storableIfSet(record.clientRequestId),
    alpha: record.alpha ?? undefined,
    excluded: JSON.stringify(record.excluded),
    baseline_model: storableIfSet(baseline?.model),
    baseline_micro_usd: baseline?.cost,
    // JSON, which escapes what cannot be stored
    features: record.features ?? undefined,
    conversation: record.conversation,
    origin: record.origin,
    attempt_started_at_millis: only?.startedAtMillis,
    attempt_latency_millis: only?.latencyMillis,
    started_at_millis: record.startedAtMillis
  }
}

/** What the row of a call says of its only attempt beside what its other columns tell; the attempt then has no row. */
interface OnlyAttempt {
  readonly startedAtMillis: number
  readonly latencyMillis: number
}

/** `undefined` where the columns of the call do not tell all of its attempts. */
const onlyAttempt = (record: CallRecord): OnlyAttempt | undefined => {
  const [attempt] = record.attempts
  const [use] = record.attemptUses
  const isTold =
    record.attempts.length === 1 &&
    attempt?.status === "success" &&
    record.status === "success" &&
    attempt.model === record.model &&
    attempt.provider === record.provider &&
    attempt.cost.amount_microusd === record.cost.amount_microusd &&
    attempt.cost.basis === record.cost.basis &&
    use !== undefined &&
    areSame(use.usage, record.usage)
  return isTold ? { startedAtMillis: use.startedAtMillis, latencyMillis: attempt.latency_ms } : undefined
}

/** In what is recorded of an attempt. */
const areSame = (one: Usage | null, other: Usage | null): boolean =>
  one === other ||
  (one !== null &&
    other !== null &&
    one.inputTokens === other.inputTokens &&
    one.cacheReadTokens === other.cacheReadTokens &&
    one.cacheWriteTokens === other.cacheWriteTokens &&
    one.outputTokens === other.outputTokens &&
    one.reasoningTokens === other.reasoningTokens)

const poolJson = (models: CallRecord["pool"]["models"], numbersOf: ModelNumbers["of"]): string => {
  const numbers = models.length > 1 ? numbersOf(models) : undefined
  const [first] = models
  return numbers === undefined
    ? `"pool":${JSON.stringify(models.map(storable))}`
    : `"pool":${JSON.stringify([storable(first)])},"pool_numbers":"${numbers}"`
}

/** What a hold is for, as `ledger_apply` reads it from JSON. */
export const holdRow = (callId: string, { accountId, billingMode, keyId, projectId }: CallerShape) => ({
  id: callId,
  key_id: keyId,
  project_id: projectId,
  account_id: accountId,
  managed: billingMode === "managed"
})

const attemptRow = (
  callId: string,
  attempt: Attempt,
  use: AttemptUse | undefined,
  failed: FailedUsage | null,
  position: number
) => {
  const usage = failed?.usage ?? use?.usage
  return {
    call_id: callId,
    position,
    provider: storable(attempt.provider),
    model: storable(attempt.model),
    status: attempt.status,
    error_code: storableIfSet(attempt.error?.code),
    error_message: storableIfSet(attempt.error?.message),
    cost_micro_usd: attempt.cost.amount_microusd,
    cost_basis: attempt.cost.basis,
    latency_millis: attempt.latency_ms,
    started_at_millis: use?.startedAtMillis,
    input_tokens: usage?.inputTokens,
    cache_read_tokens: usage?.cacheReadTokens,
    cache_write_tokens: usage?.cacheWriteTokens,
    output_tokens: usage?.outputTokens,
    reasoning_tokens: usage?.reasoningTokens,
    provider_cost_micro_usd: failed?.cost
  }
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

const storableIfSet = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined ? undefined : storable(text)
