/** How often a key or a project may call; `null` allows everything. */
export interface RateLimit {
  /** `null` is no limit. */
  readonly requestsPerMinute: number | null
  /** Of the prompt, estimated; `null` is no limit. */
  readonly tokensPerMinute: number | null
  /** At the same time; `null` is no limit. */
  readonly concurrentRequests: number | null
}

/** What a caller may still use of a limit per minute. */
export interface RateLimitQuota {
  /** Units a minute. */
  readonly limit: number
  /** What is left now. */
  readonly remaining: number
  /** Until the whole limit can be used again, in milliseconds. */
  readonly resetMillis: number
}

/** Of the limits on key and project the one with the least left; `null` where there is none. */
export interface RateLimitStatus {
  /** `null`: requests are not limited. */
  readonly requests: RateLimitQuota | null
  /** `null`: tokens are not limited. */
  readonly tokens: RateLimitQuota | null
}
