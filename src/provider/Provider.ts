import type { ChatRequest, Effort } from "../domain/Chat.ts"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderError } from "../domain/ProviderError.ts"

/** One attempt, ready to be sent. */
export interface ProviderCall {
  readonly requestId: RequestId
  readonly model: Model
  readonly request: ChatRequest
  /** The effort or depth to send; `undefined` sends none. Decided by the router, not to be read from the request. */
  readonly effort: Effort | number | undefined
  /** The cap on completion tokens that the hold covers; always sent. */
  readonly maxOutputTokens: number
  /** Wire names of the request parameters that this route leaves out. */
  readonly dropped: ReadonlyArray<string>
}

/**
 * Where an attempt's events go, in order, each call from the event loop's own turn (never from inside `open`). After `end`
 * or `fail` nothing more comes. `end` means the answer is whole: a Finish event has come.
 */
export interface Receiver {
  /** Some bytes came from upstream, whatever they mean: the attempt is alive. */
  readonly activity: () => void
  readonly event: (event: ChatEvent) => void
  readonly end: () => void
  readonly fail: (error: ProviderError) => void
}

/** The socket of an attempt. `close` is idempotent, ends the upstream call at once, and silences the receiver. */
export interface Upstream {
  readonly pause: () => void
  readonly resume: () => void
  readonly close: () => void
}

/**
 * A provider starts calls. It owns its connect deadline and the caps on what it reads; the deadlines of first content, silence
 * and the whole call are the gateway's. A call with `request.stream` false is a plain upstream request whose answer is
 * delivered as the same events, all at once.
 */
export interface Provider {
  readonly id: string
  readonly open: (call: ProviderCall, receiver: Receiver) => Upstream
}
