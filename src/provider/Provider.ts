import type * as Effect from "effect/Effect"
import type { ChatRequest, Effort } from "../domain/Chat.ts"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Probed } from "./probe/Probe.ts"

/** One attempt, ready to be sent. */
export interface ProviderCall {
  readonly requestId: RequestId
  readonly model: Model
  readonly request: ChatRequest
  /** The effort or depth to send; `undefined` sends none. Decided by the router; the request's own effort must not be used. */
  readonly effort: Effort | number | undefined
  /** The cap on completion tokens that the hold covers; always sent. */
  readonly maxOutputTokens: number
  /** Wire names of the request parameters that this route leaves out. */
  readonly dropped: ReadonlyArray<string>
  /** Authenticates the attempt in place of the provider's own credential. */
  readonly credential?: ProviderCredential | undefined
}

/**
 * Receives an attempt's events in order, each call from a new turn of the event loop (never from inside `open`). No call follows
 * `end` or `fail`. `end` means the response is complete: a Finish event was delivered.
 */
export interface Receiver {
  /** Bytes were received from the upstream; the idle deadline starts again. */
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
 * A provider starts calls. It owns the connect deadline and the size limits of responses; the deadlines of first content, idle
 * time and the call belong to the gateway. A call with `request.stream` false is a non-streaming upstream request whose response
 * is delivered as the same events.
 */
export interface Provider {
  readonly id: string
  /** `open` uses the credential of the call where it has one; to other providers such a call is never sent. */
  readonly takesCredentials?: boolean
  readonly open: (call: ProviderCall, receiver: Receiver) => Upstream
  /** Asks about the credential, the provider's own one unless another is given, without the cost of a call. */
  readonly probe?: ((credential?: ProviderCredential) => Effect.Effect<Probed>) | undefined
}
