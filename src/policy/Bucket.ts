/**
 * A rate limit per minute as a leaky bucket: a minute's limit may be used at once, and the level falls evenly. Counted in
 * 60 000ths of a unit and whole milliseconds, so that nothing is ever rounded.
 */
export interface Bucket {
  /** `null` allows everything. */
  readonly perMinute: number | null
  level: number
  atMillis: number
}

const minuteMillis = 60_000

export const make = (perMinute: number | null): Bucket => ({ perMinute, level: 0, atMillis: 0 })

/** The same bucket under another limit: what was taken stays taken, up to what the new limit takes a minute to empty. */
export const withLimit = (bucket: Bucket, perMinute: number | null, nowMillis: number): Bucket =>
  bucket.perMinute === perMinute
    ? bucket
    : {
        perMinute,
        level: Math.min(levelAt(bucket, nowMillis), (perMinute ?? 0) * minuteMillis),
        atMillis: nowMillis
      }

/**
 * Time until so many units can be taken; 0 when they can be taken now. More units than a minute's limit are admitted once the
 * bucket is empty, and the level then exceeds the capacity: no waiting time would ever be enough for them.
 */
export const waitMillis = (bucket: Bucket, units: number, nowMillis: number): number => {
  if (bucket.perMinute === null || units === 0) return 0
  if (bucket.perMinute <= 0) return minuteMillis
  const capacity = bucket.perMinute * minuteMillis
  const excess = levelAt(bucket, nowMillis) + Math.min(units * minuteMillis, capacity) - capacity
  return Math.max(0, Math.ceil(excess / bucket.perMinute))
}

export const take = (bucket: Bucket, units: number, nowMillis: number): void => {
  if (bucket.perMinute === null) return
  bucket.level = levelAt(bucket, nowMillis) + units * minuteMillis
  bucket.atMillis = nowMillis
}

/** Whole units that can be taken now. */
export const remaining = (bucket: Bucket, nowMillis: number): number =>
  Math.max(0, Math.floor(((bucket.perMinute ?? 0) * minuteMillis - levelAt(bucket, nowMillis)) / minuteMillis))

/** Time until the bucket is empty: a whole minute's limit can be taken then. */
export const resetMillis = (bucket: Bucket, nowMillis: number): number =>
  bucket.perMinute === null || bucket.perMinute <= 0 ? 0 : Math.ceil(levelAt(bucket, nowMillis) / bucket.perMinute)

/** No different from a new bucket. */
export const isIdle = (bucket: Bucket, nowMillis: number): boolean => levelAt(bucket, nowMillis) === 0

const levelAt = (bucket: Bucket, nowMillis: number): number =>
  Math.max(0, bucket.level - (nowMillis - bucket.atMillis) * (bucket.perMinute ?? 0))
