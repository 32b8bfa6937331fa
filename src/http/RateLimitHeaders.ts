import type { RateLimitQuota, RateLimitStatus } from "../domain/RateLimitStatus.ts"

/** `x-ratelimit-limit|remaining|reset-requests|tokens`, as OpenAI sends them; empty where nothing is limited. */
export const rateLimitHeaders = ({ requests, tokens }: RateLimitStatus): Readonly<Record<string, string>> => ({
  ...quotaHeaders("requests", requests),
  ...quotaHeaders("tokens", tokens)
})

export const hasQuota = ({ requests, tokens }: RateLimitStatus): boolean => requests !== null || tokens !== null

const quotaHeaders = (name: "requests" | "tokens", quota: RateLimitQuota | null): Readonly<Record<string, string>> =>
  quota === null
    ? {}
    : {
        [`x-ratelimit-limit-${name}`]: String(quota.limit),
        [`x-ratelimit-remaining-${name}`]: String(quota.remaining),
        [`x-ratelimit-reset-${name}`]: durationText(quota.resetMillis)
      }

/** As `250ms`, `7s` or `6m0s`: whole seconds, rounded up, from one second on. */
const durationText = (millis: number): string => {
  if (millis < 1_000) return `${millis}ms`
  const seconds = Math.ceil(millis / 1_000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
