import type { ProviderFailure } from "../domain/ProviderError.ts"
import type { Cancel } from "../domain/Timers.ts"

type Fail = (reason: ProviderFailure) => void

/**
 * The one upstream that a call has open. The call's finalizer closes it whatever happened, so no interruption can leak a
 * socket: an upstream that arrives after the closing is closed at once.
 */
export class Slot {
  private closeCurrent: (() => void) | undefined
  private fail: Fail | undefined
  private closed = false
  private aborted: ProviderFailure | undefined

  /** `close` ends the attempt in silence; `fail` ends it from outside, as if its provider had failed. */
  hold(close: () => void, fail: Fail): void {
    if (this.closed) {
      close()
      return
    }
    this.closeCurrent = close
    this.fail = fail
    if (this.aborted !== undefined) fail(this.aborted)
  }

  /** Ends the current attempt; the slot can take the next one. */
  release(): void {
    this.closeCurrent?.()
    this.closeCurrent = undefined
    this.fail = undefined
  }

  /** Lets a whole answer's socket end by itself, to be used again, but not for longer than the timer says. */
  linger(after: (run: () => void) => Cancel): void {
    const close = this.closeCurrent
    this.closeCurrent = undefined
    this.fail = undefined
    if (close !== undefined) after(close)
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
