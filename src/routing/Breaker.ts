import { SlidingWindow } from "./SlidingWindow.ts"

/** Recorded outcomes lose half their weight in this time. */
const halfLifeMillis = 60_000

/** Beta(1, 19): without any outcome, one attempt in twenty is expected to fail. */
const priorFailures = 1
const priorAttempts = 20

/** Consecutive failures that open the circuit; so does a window of at least so many attempts of which more than half failed. */
const maxConsecutiveFailures = 5
const minAttemptsInWindow = 20
const windowMillis = 30_000

/** The n-th ejection in a row opens the circuit for n times this long, up to the cap. */
const openMillis = 30_000
const maxOpenMillis = 300_000

/** In the half-open state one attempt is the probe; other attempts are kept away until it is decided, for at most this long. */
const halfOpenMillis = 5_000

/** Consecutive failures are forgotten after this long without an outcome, which is longer than the circuit is ever open. */
const forgetMillis = 600_000

/**
 * Circuit breaker of a route or of a provider's origin. Opening clears the failure count, and outcomes while open, which are those of
 * attempts that began before, are ignored: a recovered route is used again at once, and one that has answered what was running is not
 * taken for recovered. After the open period one half-open probe decides: failure reopens the circuit for longer, success closes it.
 */
export class Breaker {
  private ejectedUntilMillis = 0
  private halfOpenUntilMillis = 0
  private failures = 0
  private successes = 0
  private lastOutcomeAtMillis = 0
  private consecutiveFailures = 0
  private ejections = 0
  private readonly window = new SlidingWindow(windowMillis)

  /** Probability that the next attempt fails: the prior one while none has failed, since only what is beyond it is evidence. */
  failure(nowMillis: number): number {
    if (this.failures === 0) return priorFailure
    const kept = this.kept(nowMillis)
    return (priorFailures + this.failures * kept) / (priorAttempts + (this.failures + this.successes) * kept)
  }

  get openUntilMillis(): number {
    return Math.max(this.ejectedUntilMillis, this.halfOpenUntilMillis)
  }

  /** An attempt begins; in the half-open state it is the probe. */
  attempted(nowMillis: number): void {
    const isHalfOpen =
      this.consecutiveFailures >= maxConsecutiveFailures && nowMillis - this.lastOutcomeAtMillis <= forgetMillis
    if (isHalfOpen && nowMillis >= this.openUntilMillis) this.halfOpenUntilMillis = nowMillis + halfOpenMillis
  }

  /** True when the circuit, which was open, is closed by it. */
  succeeded(nowMillis: number): boolean {
    if (nowMillis < this.ejectedUntilMillis) return false
    this.recordOutcome(nowMillis)
    this.successes++
    this.window.add(nowMillis, 1, 0)
    this.consecutiveFailures = 0
    this.halfOpenUntilMillis = 0
    const closes = this.ejections > 0
    this.ejections = 0
    return closes
  }

  /** `weight` is 1, or less for an outcome that is only partly a failure. True when the circuit is opened by it. */
  failed(nowMillis: number, weight: number): boolean {
    if (nowMillis < this.ejectedUntilMillis) return false
    this.recordOutcome(nowMillis)
    this.failures += weight
    this.window.add(nowMillis, 1, weight)
    this.consecutiveFailures += weight
    const opens = this.consecutiveFailures >= maxConsecutiveFailures || this.mostlyFails(nowMillis)
    if (opens) this.eject(nowMillis)
    return opens
  }

  private eject(nowMillis: number): void {
    this.ejections++
    this.halfOpenUntilMillis = 0
    this.ejectedUntilMillis = nowMillis + Math.min(maxOpenMillis, openMillis * this.ejections)
    this.consecutiveFailures = maxConsecutiveFailures
    this.failures = 0
    this.successes = 0
    this.window.clear()
  }

  private mostlyFails(nowMillis: number): boolean {
    const { first: attempts, second: failures } = this.window.totals(nowMillis)
    return attempts >= minAttemptsInWindow && failures > attempts / 2
  }

  /** Reduces the weight of earlier outcomes to what it is now. */
  private recordOutcome(nowMillis: number): void {
    const kept = this.kept(nowMillis)
    this.failures *= kept
    this.successes *= kept
    if (nowMillis - this.lastOutcomeAtMillis > forgetMillis) {
      this.consecutiveFailures = 0
      this.ejections = 0
    }
    this.lastOutcomeAtMillis = nowMillis
  }

  private kept(nowMillis: number): number {
    return 2 ** (-Math.max(0, nowMillis - this.lastOutcomeAtMillis) / halfLifeMillis)
  }
}

/** `failure` without any outcome. */
export const priorFailure = priorFailures / priorAttempts
