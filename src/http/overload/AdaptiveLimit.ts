/**
 * The minimum limit, enough calls for the ledger's batches. The embedded database needs larger ones: at three times the capacity its
 * goodput was 93 % of it with 80 calls, 98 % with 112 (means of six cycles of `npm run bench:overload`, in turns; p99 1.9 and 2.0
 * times that at capacity), and p99 2.7 times with 144. On PostgreSQL 80 added only latency.
 */
export const minLimit = 48
export const minLimitEmbedded = 112
export const maxLimit = 1_000
const startAboveMin = 16
export const startLimit = minLimit + startAboveMin

const windowMillis = 200
/** A window with fewer samples is extended. */
const minSamples = 5
/** More samples do not improve the median. */
const maxSamples = 512
/** Times the minimum that latency may be. At 2, each minimum that is measured at half the limit would justify a higher limit. */
const tolerance = 1.4
/** Latency that is allowed beyond that: the ledger writes in batches, which need calls that wait. */
const slackMillis = 4
/** How much the minimum rises per window, in case the service has become slower permanently. */
const riseByWindow = 1.001
const growth = 1.1
/** The share of the limit that calls must have used for it to rise: an unused limit says nothing of the latency at that limit. */
const minUsed = 0.75
/** A decrease is large enough that its effect can be told from the variation of the median. */
const [minDecrease, maxDecrease] = [0.5, 0.7]
/** Decreases without an effect before it is concluded that there is none: the calls that were admitted before are still there. */
const maxDecreases = 3
/** A lower limit has had an effect when latency has fallen by at least this share of the decrease. */
const minEffect = 0.5
/** How often the minimum is measured anew while calls wait. */
const probeEveryMillis = 10_000

/**
 * The number of calls that may prepare at once, following the latency of that stage: it rises while the median stays close to
 * the minimum and falls in proportion beyond. Where a lower limit does not lower the latency, the calls in this stage
 * are not what makes it (an event loop that is busy with other work), and what was measured becomes the minimum.
 */
export class AdaptiveLimit {
  value: number
  /** The latency of the stage when calls do not wait for each other; infinite until it has been measured. */
  minimumMillis = Number.POSITIVE_INFINITY
  private samples: Array<number> = []
  private windowEndsAtMillis = Number.NEGATIVE_INFINITY
  private probesAtMillis = Number.POSITIVE_INFINITY
  private lowered: Decrease | undefined
  private used = 0
  private readonly min: number

  constructor(min = minLimit) {
    this.min = min
    this.value = min + startAboveMin
  }

  /** A call has been prepared in `latencyMillis`; `running` are still in preparation, and `queued` is true while calls wait. */
  add(nowMillis: number, latencyMillis: number, running: number, queued: boolean): void {
    if (this.samples.length < maxSamples) this.samples.push(latencyMillis)
    if (running >= this.used) this.used = running + 1
    if (nowMillis < this.windowEndsAtMillis || this.samples.length < minSamples) return
    const latency = median(this.samples)
    const { lowered } = this
    // the first window after a change contains calls from before the change
    if (lowered !== undefined && lowered.windows > 0) lowered.windows -= 1
    else if (lowered !== undefined) this.judge(lowered, latency)
    else this.follow(latency, nowMillis, queued)
    this.samples = []
    this.used = 0
    this.windowEndsAtMillis = nowMillis + windowMillis
  }

  private follow(latencyMillis: number, nowMillis: number, queued: boolean): void {
    this.minimumMillis = Math.min(this.minimumMillis * riseByWindow, latencyMillis)
    const targetMillis = tolerance * this.minimumMillis + slackMillis
    if (!queued) this.probesAtMillis = nowMillis + probeEveryMillis
    if (latencyMillis > targetMillis) {
      this.lower(Math.min(maxDecrease, Math.max(minDecrease, targetMillis / latencyMillis)), latencyMillis, false)
    } else if (nowMillis >= this.probesAtMillis) {
      this.lower(minDecrease, latencyMillis, true)
      this.probesAtMillis = nowMillis + probeEveryMillis
    } else if (this.used >= minUsed * this.value) this.set(this.value * growth + 1)
  }

  private lower(factor: number, latencyMillis: number, isProbe: boolean): void {
    const from = this.value
    // above what was used, a lower limit would have no effect, and would be judged by it
    const used = Math.min(from, Math.max(this.min, this.used))
    this.set(used * factor)
    this.lowered = { from, used, latencyMillis, isProbe, windows: 1, decreases: 1 }
  }

  private judge(lowered: Decrease, latencyMillis: number): void {
    const expected = 1 - minEffect * (1 - this.value / lowered.used)
    const hasEffect = latencyMillis <= lowered.latencyMillis * expected
    if (!lowered.isProbe && !hasEffect && lowered.decreases < maxDecreases && this.value > this.min) {
      this.set(this.value * maxDecrease)
      this.lowered = { ...lowered, windows: 1, decreases: lowered.decreases + 1 }
      return
    }
    this.lowered = undefined
    if (hasEffect && !lowered.isProbe) return
    this.minimumMillis = latencyMillis
    this.set(lowered.from)
  }

  private set(value: number): void {
    this.value = Math.max(this.min, Math.min(maxLimit, Math.floor(value)))
  }
}

interface Decrease {
  readonly from: number
  /** How much of it was used. */
  readonly used: number
  readonly latencyMillis: number
  readonly isProbe: boolean
  /** Windows that still contain calls from before. */
  windows: number
  decreases: number
}

const median = (values: ReadonlyArray<number>): number =>
  Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN
