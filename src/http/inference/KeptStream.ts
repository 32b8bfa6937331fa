import { maxAnswerBytes } from "../../calls/Idempotency.ts"

/**
 * The frames of a stream for a repetition of its request; given up when they are too many to be kept. The last frames wait until
 * the settlement of the call has kept them.
 */
export class KeptStream {
  private frames: Array<string> | undefined = []
  private length = 0
  private tail: Array<string> | undefined

  /** True: the frame waits, and is not to be sent yet. */
  add(frame: string): boolean {
    if (this.frames !== undefined) {
      this.frames.push(frame)
      this.length += frame.length
      if (this.length > maxAnswerBytes) this.frames = undefined
    }
    if (this.tail === undefined) return false
    this.tail.push(frame)
    return true
  }

  /** From now on frames wait. */
  holdTail(): void {
    this.tail = []
  }

  /** The frames that wait, once; `undefined` where none have to. */
  takeTail(): ReadonlyArray<string> | undefined {
    const { tail } = this
    this.tail = undefined
    return tail
  }

  /** The request can be run again. */
  giveUp(): void {
    this.frames = undefined
  }

  get text(): string | undefined {
    return this.frames?.join("")
  }
}
