import { SlidingWindow } from "./SlidingWindow.ts"

/** Half of what was seen is forgotten after this time. */
const halfLifeMillis = 60_000

/** Beta(1, 19): before anything was seen, one attempt in twenty is taken to fail. */
const priorFailures = 1
const priorAttempts = 20

/** So many failures in a row put a thing out, or more than half of at least so many in the window. */
const failuresInARow = 5
const fewestInWindow = 20
const windowMillis = 30_000

/** Each time out in a row rests this much longer, up to the cap. */
const restMillis = 30_000
const longestRestMillis = 300_000

/** After a rest one attempt is the trial; while it runs, or for this long, the others keep away. */
const trialMillis = 5_000

/** A run of failures is over when nothing was heard for this long, which is longer than any rest. */
const forgetMillis = 600_000

/**
 * Recent outcomes of one thing that can fail: a route, or a provider's origin. Its rest is its whole punishment: what led
 * to it is forgotten and what fails meanwhile is not counted, so that a route that is well again is used again at once.
 * But after a rest it is on trial: a single attempt finds out for all; if it fails the thing is out for longer, if it
 * succeeds the thing is whole.
 */
export class Breaker {
  private outUntilMillis = 0
  private trialUntilMillis = 0
  private failures = 0
  private successes = 0
  private heardAtMillis = 0
  private inARow = 0
  private timesOut = 0
  private readonly window = new SlidingWindow(windowMillis)

  /** Odds that the next attempt fails. */
  failure(nowMillis: number): number {
    const kept = this.kept(nowMillis)
    return (priorFailures + this.failures * kept) / (priorAttempts + (this.failures + this.successes) * kept)
  }

  get restingUntilMillis(): number {
    return Math.max(this.outUntilMillis, this.trialUntilMillis)
  }

  /** An attempt begins: after a rest it is the trial. */
  attempted(nowMillis: number): void {
    const isOnTrial = this.inARow >= failuresInARow && nowMillis - this.heardAtMillis <= forgetMillis
    if (isOnTrial && nowMillis >= this.restingUntilMillis) this.trialUntilMillis = nowMillis + trialMillis
  }

  succeeded(nowMillis: number): void {
    this.hear(nowMillis)
    this.successes++
    this.window.add(nowMillis, 1, 0)
    this.inARow = 0
    this.trialUntilMillis = 0
    if (nowMillis >= this.outUntilMillis) this.timesOut = 0
  }

  /** `weight` is 1 for a failure, less for what is only half of one. */
  failed(nowMillis: number, weight: number): void {
    if (nowMillis < this.outUntilMillis) return
    this.hear(nowMillis)
    this.failures += weight
    this.window.add(nowMillis, 1, weight)
    this.inARow += weight
    if (this.inARow >= failuresInARow || this.mostlyFails(nowMillis)) this.putOut(nowMillis)
  }

  private putOut(nowMillis: number): void {
    this.timesOut++
    this.trialUntilMillis = 0
    this.outUntilMillis = nowMillis + Math.min(longestRestMillis, restMillis * this.timesOut)
    this.inARow = failuresInARow
    this.failures = 0
    this.successes = 0
    this.window.clear()
  }

  private mostlyFails(nowMillis: number): boolean {
    const { first: attempts, second: failures } = this.window.totals(nowMillis)
    return attempts >= fewestInWindow && failures > attempts / 2
  }

  /** Lets what was heard before fade up to now. */
  private hear(nowMillis: number): void {
    const kept = this.kept(nowMillis)
    this.failures *= kept
    this.successes *= kept
    if (nowMillis - this.heardAtMillis > forgetMillis) {
      this.inARow = 0
      this.timesOut = 0
    }
    this.heardAtMillis = nowMillis
  }

  private kept(nowMillis: number): number {
    return 2 ** (-Math.max(0, nowMillis - this.heardAtMillis) / halfLifeMillis)
  }
}

/** What `failure` says of a thing that nothing is known about. */
export const priorFailure = priorFailures / priorAttempts
