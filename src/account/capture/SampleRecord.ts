import type { CapturedBlock, CapturedCall } from "../../domain/CapturedCall.ts"
import { dateAt } from "../../domain/Dates.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { CaptureSample } from "../../wire/account/Capture.ts"

/** A captured call as the record of the API. */
export const sampleRecord = (call: CapturedCall): CaptureSample => ({
  id: call.requestId,
  flow_authorized: call.flowAuthorized,
  sample: {
    schema_version: 1,
    request_id: call.requestId,
    captured_at: dateAt(call.capturedAt),
    window: {
      config_version: call.window.configVersion,
      sampling_rate: call.window.samplingRate,
      inclusion: call.window.inclusion
    },
    key_id: call.keyId,
    end_user: call.endUser,
    conversation: call.conversation,
    class: call.class,
    endpoint: call.endpoint,
    status: call.status,
    error: call.error,
    request: {
      messages: call.request.messages?.map((message) => ({ ...message })) ?? null,
      tools: call.request.tools?.map((tool) => ({ ...tool })) ?? null,
      blocks: call.request.blocks.map(blockRecord),
      params: { ...call.request.params },
      tools_offered: call.request.toolsOffered,
      tools_called: call.request.toolsCalled,
      media: call.request.media.map(({ mediaType, ...media }) => ({ ...media, media_type: mediaType }))
    },
    candidate_pool: call.candidatePool,
    decision: {
      requested_model: call.decision.requestedModel,
      reason: call.decision.reason,
      alpha: call.decision.alpha,
      routing_config: call.decision.routingConfig,
      policy_version: call.decision.policyVersion
    },
    attempts: call.attempts.map(({ latencyMillis, startedAt, usage, ...attempt }) => ({
      ...attempt,
      usage: usageRecord(usage),
      started_at: dateAt(startedAt),
      latency_ms: latencyMillis
    })),
    response: call.response && {
      message: call.response.message && { ...call.response.message },
      block: blockRecord(call.response.block),
      finish: call.response.finish
    },
    usage: usageRecord(call.usage),
    cost: call.cost,
    prices: call.prices && { ...call.prices },
    latency_ms: call.latencyMillis,
    first_content_ms: call.firstContentMillis,
    truncated: call.truncated,
    expires_at: dateAt(call.expiresAt)
  }
})

const blockRecord = ({ bytes, cacheMark, canonicalId, id, kind, looks, tool }: CapturedBlock) => ({
  id,
  canonical_id: canonicalId,
  kind,
  bytes,
  tool,
  looks,
  cache_mark: cacheMark
})

const usageRecord = (usage: Usage | null) =>
  usage && {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens
  }
