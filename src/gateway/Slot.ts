import type { ProviderFailure } from "../domain/ProviderError.ts"
import type { Cancel } from "../domain/Timers.ts"
import type { Upstream } from "../provider/Provider.ts"

type Fail = (reason: ProviderFailure) => void

/**
 * The one upstream that a call has open. The call's finalizer closes it whatever happened, so no interruption can leak a
 * socket: an upstream that arrives after the closing is closed at once.
 */
export class Slot {
  private current: Upstream | undefined
  private fail: Fail | undefined
  private closed = false
  private aborted: ProviderFailure | undefined

  /** `fail` ends the attempt from outside, as if its provider had failed. */
  hold(upstream: Upstream, fail: Fail): void {
    if (this.closed) {
      upstream.close()
      return
    }
    this.current = upstream
    this.fail = fail
    if (this.aborted !== undefined) fail(this.aborted)
  }

  /** Ends the current attempt; the slot can take the next one. */
  release(): void {
    this.current?.close()
    this.current = undefined
    this.fail = undefined
  }

  /** Lets a whole answer's socket end by itself, to be used again, but not for longer than the timer says. */
  linger(after: (run: () => void) => Cancel): void {
    const upstream = this.current
    this.current = undefined
    this.fail = undefined
    if (upstream !== undefined) after(upstream.close)
  }

  /** Fails the attempt that is running now, and any that would follow. */
  abort(reason: ProviderFailure): void {
    this.aborted = reason
    this.fail?.(reason)
  }

  close(): void {
    this.closed = true
    this.release()
  }
}
