import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../domain/Caller.ts"
import { RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { countBounds, issuesOfNumberOrNull, layerIfValid } from "../domain/OptionIssues.ts"
import type { RateLimit, RateLimitQuota, RateLimitStatus } from "../domain/RateLimitStatus.ts"
import { Timers } from "../domain/Timers.ts"
import * as Bucket from "./Bucket.ts"

export type { RateLimit } from "../domain/RateLimitStatus.ts"

/** Releases the request's place in the concurrency limits; idempotent. */
export type Release = () => void

/** A request that its rate limits let through. */
export interface RateLimitAdmission {
  /** Ends the request's place in the concurrency limits; idempotent. */
  readonly release: () => void
  /** What the limits leave after this request. */
  readonly status: RateLimitStatus
}

/** Lets requests through, or rejects them. */
export interface RateLimitsShape {
  /** Counts one request of about `tokens` prompt tokens against the key and the project (0 for the model list). */
  readonly admit: (
    caller: CallerShape,
    tokens: number
  ) => Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable>
}

/** How often a key and a project may call: as configured for all, or as set for this one; without either unlimited. */
export class RateLimits extends Context.Tag("gateway/policy/RateLimits")<RateLimits, RateLimitsShape>() {
  /** No limits. */
  static readonly layerOff: Layer.Layer<RateLimits> = Layer.succeed(this, { admit: () => unlimited })

  /**
   * Counted by this process alone, as leaky buckets: a minute's limit may be used at once, and the bucket empties evenly. Fails with
   * `InvalidConfiguration` where a limit is neither `null` nor a whole number above zero.
   */
  static readonly layerMemory = (options: RateLimitOptions): Layer.Layer<RateLimits, InvalidConfiguration, Timers> =>
    layerIfValid(
      () => issuesOfRateLimits(options),
      () =>
        Layer.effect(
          this,
          Effect.map(Timers, (timers) => make(options, timers.now))
        )
    )
}

/** Of every key and every project that has none of its own. */
export interface RateLimitOptions {
  /** Of each key. */
  readonly key: RateLimit
  /** Of each project. */
  readonly project: RateLimit
}

const noLimit: RateLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
export const noRateLimits: RateLimitOptions = { key: noLimit, project: noLimit }

/** What is wrong with the limits. */
export const issuesOfRateLimits = (options: RateLimitOptions): ReadonlyArray<ConfigIssue> =>
  (["key", "project"] as const).flatMap((scope) =>
    (["requestsPerMinute", "tokensPerMinute", "concurrentRequests"] as const).flatMap((name) =>
      issuesOfNumberOrNull(options[scope][name], countBounds, `${scope}.${name}`)
    )
  )

/** Whether anything is limited at all. */
export const limitsAnything = ({ key, project }: RateLimitOptions): boolean => isLimited(key) || isLimited(project)

/** The limits of this key and this project. */
export const limitsOf = (options: RateLimitOptions, { rateLimits }: CallerShape): RateLimitOptions =>
  rateLimits === undefined || (rateLimits.key === null && rateLimits.project === null)
    ? options
    : { key: rateLimits.key ?? options.key, project: rateLimits.project ?? options.project }

const isLimited = (limit: RateLimit): boolean =>
  limit.requestsPerMinute !== null || limit.tokensPerMinute !== null || limit.concurrentRequests !== null

/** The longest wait among the limits that reject a request; `limit` as in an error message. */
export const rejection = (
  { limit, scope }: RejectingLimit,
  retryAfterMillis: number,
  status: RateLimitStatus
): RateLimited =>
  new RateLimited({
    code: "rate_limit_exceeded",
    message: `Rate limit reached: ${limit}.`,
    retryAfterMillis,
    scope,
    status
  })

export interface RejectingLimit {
  readonly scope: "key" | "project"
  /** As in an error message. */
  readonly limit: string
}

/** Of several limits on the same thing, the one with the least left. */
export const tightest = (quotas: ReadonlyArray<RateLimitQuota>): RateLimitQuota | null =>
  quotas.reduce<RateLimitQuota | null>(
    (least, quota) => (least === null || quota.remaining < least.remaining ? quota : least),
    null
  )

/** For a concurrency limit: it is unknown when a running request ends. */
const concurrencyRetryMillis = 1_000
const sweepEveryMillis = 60_000

const make = (options: RateLimitOptions, nowMillis: () => number): RateLimitsShape => {
  const scopes = { key: scopeOf("key"), project: scopeOf("project") }
  let sweptAtMillis = 0

  return {
    admit: (caller, tokens) =>
      Effect.suspend(() => {
        const limits = limitsOf(options, caller)
        const now = Math.floor(nowMillis())
        if (now - sweptAtMillis >= sweepEveryMillis) {
          sweptAtMillis = now
          sweep(scopes.key, now)
          sweep(scopes.project, now)
        }
        const entries = [
          entryOf(scopes.key, caller.keyId, limits.key, now),
          entryOf(scopes.project, caller.projectId, limits.project, now)
        ]
        if (!limitsAnything(limits)) {
          // a concurrency limit may be set while it runs
          return Effect.succeed({ release: take(entries, tokens, now), status: noStatus })
        }
        const rejections = entries.flatMap((entry) => rejectionsOf(entry, tokens, now))
        const longest = rejections.reduce<Rejection | undefined>(
          (longest, next) => (longest === undefined || next.waitMillis > longest.waitMillis ? next : longest),
          undefined
        )
        if (longest !== undefined) return Effect.fail(rejection(longest, longest.waitMillis, statusOf(entries, now)))
        const release = take(entries, tokens, now)
        return Effect.succeed({ release, status: statusOf(entries, now) })
      })
  }
}

/** Of a request that nothing limits. */
export const noStatus: RateLimitStatus = { requests: null, tokens: null }
const unlimited: Effect.Effect<RateLimitAdmission> = Effect.succeed({ release: () => {}, status: noStatus })

interface Scope {
  readonly kind: "key" | "project"
  readonly entries: Map<string, Entry>
}

interface Entry {
  readonly kind: Scope["kind"]
  maxRunning: number | null
  requests: Bucket.Bucket
  tokens: Bucket.Bucket
  running: number
}

interface Rejection extends RejectingLimit {
  readonly waitMillis: number
}

const scopeOf = (kind: Scope["kind"]): Scope => ({ kind, entries: new Map() })

/** A limit that has changed since applies to what was taken before, too. */
const entryOf = ({ entries, kind }: Scope, id: string, limit: RateLimit, now: number): Entry => {
  const known = entries.get(id)
  if (known !== undefined) {
    known.maxRunning = limit.concurrentRequests
    known.requests = Bucket.withLimit(known.requests, limit.requestsPerMinute, now)
    known.tokens = Bucket.withLimit(known.tokens, limit.tokensPerMinute, now)
    return known
  }
  const entry: Entry = {
    kind,
    maxRunning: limit.concurrentRequests,
    requests: Bucket.make(limit.requestsPerMinute),
    tokens: Bucket.make(limit.tokensPerMinute),
    running: 0
  }
  entries.set(id, entry)
  return entry
}

/** Removes entries that decide as a new one would. */
const sweep = (scope: Scope, now: number): void => {
  for (const [id, entry] of scope.entries) {
    if (entry.running === 0 && Bucket.isIdle(entry.requests, now) && Bucket.isIdle(entry.tokens, now)) {
      scope.entries.delete(id)
    }
  }
}

const rejectionsOf = (entry: Entry, wanted: number, now: number): Array<Rejection> => {
  const { kind, maxRunning, requests, running, tokens } = entry
  return [
    { waitMillis: Bucket.waitMillis(requests, 1, now), scope: kind, limit: `requests per minute of this ${kind}` },
    { waitMillis: Bucket.waitMillis(tokens, wanted, now), scope: kind, limit: `tokens per minute of this ${kind}` },
    {
      waitMillis: maxRunning !== null && running >= maxRunning ? concurrencyRetryMillis : 0,
      scope: kind,
      limit: `concurrent requests of this ${kind}`
    }
  ].filter(({ waitMillis }) => waitMillis > 0)
}

const statusOf = (entries: ReadonlyArray<Entry>, now: number): RateLimitStatus => {
  const quotas = (buckets: ReadonlyArray<Bucket.Bucket>) =>
    tightest(
      buckets.flatMap((bucket) =>
        bucket.perMinute === null
          ? []
          : [
              {
                limit: bucket.perMinute,
                remaining: Bucket.remaining(bucket, now),
                resetMillis: Bucket.resetMillis(bucket, now)
              }
            ]
      )
    )
  return {
    requests: quotas(entries.map(({ requests }) => requests)),
    tokens: quotas(entries.map(({ tokens }) => tokens))
  }
}

const take = (entries: ReadonlyArray<Entry>, tokens: number, now: number): Release => {
  for (const entry of entries) {
    Bucket.take(entry.requests, 1, now)
    Bucket.take(entry.tokens, tokens, now)
    entry.running++
  }
  let released = false
  return () => {
    if (released) return
    released = true
    for (const entry of entries) entry.running--
  }
}
