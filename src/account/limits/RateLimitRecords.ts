import type { RateLimit } from "../../policy/RateLimits.ts"
import type { RateLimits } from "../../wire/account/Limits.ts"

const ofRecord = (record: RateLimits | null): RateLimit | null =>
  record && {
    requestsPerMinute: record.requests_per_minute,
    tokensPerMinute: record.tokens_per_minute,
    concurrentRequests: record.concurrent_requests
  }

const toRecord = (limit: RateLimit | null): RateLimits | null =>
  limit && {
    requests_per_minute: limit.requestsPerMinute,
    tokens_per_minute: limit.tokensPerMinute,
    concurrent_requests: limit.concurrentRequests
  }

export { ofRecord as in, toRecord as out }
