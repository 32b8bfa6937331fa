import type { Cancel } from "../domain/Timers.ts"
import type { Upstream } from "../provider/Provider.ts"

/**
 * The one upstream that a call has open. The call's finalizer closes it whatever happened, so no interruption can leak a
 * socket: an upstream that arrives after the closing is closed at once.
 */
export class Slot {
  private current: Upstream | undefined
  private closed = false

  hold(upstream: Upstream): void {
    if (this.closed) upstream.close()
    else this.current = upstream
  }

  /** Ends the current attempt; the slot can take the next one. */
  release(): void {
    this.current?.close()
    this.current = undefined
  }

  /** Lets a whole answer's socket end by itself, to be used again, but not for longer than the timer says. */
  linger(after: (run: () => void) => Cancel): void {
    const upstream = this.current
    this.current = undefined
    if (upstream !== undefined) after(upstream.close)
  }

  close(): void {
    this.closed = true
    this.release()
  }
}
