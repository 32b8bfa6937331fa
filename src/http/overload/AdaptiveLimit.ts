/** The minimum limit, enough calls for the ledger's batches. */
export const minLimit = 16
export const maxLimit = 1_000
export const startLimit = 64

const windowMillis = 200
/** A window with fewer samples is extended. */
const minSamples = 5
/** More samples do not improve the median. */
const maxSamples = 512
/** Latency that is allowed beyond twice the minimum: the ledger writes in batches, which need calls that wait. */
const slackMillis = 20
/** How much the minimum rises per window, in case the service has become slower permanently. */
const riseByWindow = 1.005
const growth = 1.1
const minDecrease = 0.5
/** A lower limit has had an effect when latency has fallen by at least this share of the decrease. */
const minEffect = 0.5
/** How often the minimum is measured anew while calls wait. */
const probeEveryMillis = 10_000

/**
 * The number of calls that may prepare at once, following the latency of that stage: it rises while the median stays under
 * twice the minimum and falls in proportion beyond. Where a lower limit does not lower the latency, the calls in this stage
 * are not what makes it (an event loop that is busy with other work), and what was measured becomes the minimum.
 */
export class AdaptiveLimit {
  value = startLimit
  private minimumMillis = Number.POSITIVE_INFINITY
  private samples: Array<number> = []
  private windowEndsAtMillis = Number.NEGATIVE_INFINITY
  private probesAtMillis = Number.POSITIVE_INFINITY
  private lowered: Decrease | undefined
  private used = 0

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
    const targetMillis = 2 * this.minimumMillis + slackMillis
    if (!queued) this.probesAtMillis = nowMillis + probeEveryMillis
    if (latencyMillis > targetMillis) {
      this.lower(Math.max(minDecrease, targetMillis / latencyMillis), latencyMillis, false)
    } else if (nowMillis >= this.probesAtMillis) {
      this.lower(minDecrease, latencyMillis, true)
      this.probesAtMillis = nowMillis + probeEveryMillis
    } else if (this.used >= this.value / 2) this.set(this.value * growth + 1)
  }

  private lower(factor: number, latencyMillis: number, isProbe: boolean): void {
    const from = this.value
    this.set(from * factor)
    this.lowered = { from, latencyMillis, isProbe, windows: 1 }
  }

  private judge({ from, isProbe, latencyMillis: before }: Decrease, latencyMillis: number): void {
    this.lowered = undefined
    const expected = 1 - minEffect * (1 - this.value / from)
    if (isProbe || latencyMillis > before * expected) {
      this.minimumMillis = latencyMillis
      this.set(from)
    }
  }

  private set(value: number): void {
    this.value = Math.max(minLimit, Math.min(maxLimit, Math.floor(value)))
  }
}

interface Decrease {
  readonly from: number
  readonly latencyMillis: number
  readonly isProbe: boolean
  windows: number
}

const median = (values: ReadonlyArray<number>): number =>
  Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN
