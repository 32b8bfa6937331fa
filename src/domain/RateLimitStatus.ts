/** How often a key or a project may call; `null` allows everything. */
export interface RateLimit {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
}

/** What a caller may still use of a limit per minute. */
export interface RateLimitQuota {
  /** Units a minute. */
  readonly limit: number
  readonly remaining: number
  /** Until the whole limit can be used again, in milliseconds. */
  readonly resetMillis: number
}

/** Of the limits on key and project the one with the least left; `null` where there is none. */
export interface RateLimitStatus {
  readonly requests: RateLimitQuota | null
  readonly tokens: RateLimitQuota | null
}
