import * as Effect from "effect/Effect"
import { FifoQueue } from "../domain/FifoQueue.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { Call } from "./Call.ts"

/** The calls that run on this node, by which they can be ended from outside. */
export class RunningCalls {
  private readonly calls = new FifoQueue<Call>()
  private wereAborted = false

  /** Whether all were aborted: no call can succeed any more. */
  get isAborted(): boolean {
    return this.wereAborted
  }

  add(call: Call): void {
    call.entry = this.calls.add(call)
    // it was still being admitted when all others were aborted
    if (this.wereAborted) call.abort({ _tag: "Shutdown" })
  }

  remove(call: Call): void {
    if (call.entry !== undefined) this.calls.remove(call.entry)
  }

  /** Nothing happens for a call that runs elsewhere or has ended. Seldom asked for: to keep calls by their ids took 3 µs a call. */
  stop(requestId: RequestId): void {
    const running = this.calls.values().find(({ admitted }) => admitted.requestId === requestId)
    running?.abort({ _tag: "Stopped" })
  }

  /** Fails every call, and those that are added from now on. */
  abort(): void {
    this.wereAborted = true
    for (const call of this.calls.values()) call.abort({ _tag: "Shutdown" })
  }

  /** Ends when every call has settled, or after `maxTurnsToSettle`. */
  readonly settled: Effect.Effect<void> = Effect.yieldNow().pipe(
    Effect.repeat({ while: () => this.calls.size > 0, times: maxTurnsToSettle }),
    // the last of them is removed before it is settled, in one turn more
    Effect.zipRight(Effect.yieldNow())
  )
}

/** An aborted call ends within these turns, unless its hold is just being extended: then it ends without having sent more. */
const maxTurnsToSettle = 1_000
