import type * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { ChatRequest, Effort } from "../domain/Chat.ts"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Probed } from "./probe/Probe.ts"

/** One attempt, ready to be sent. */
export interface ProviderCall {
  /** Of the call; several attempts have the same. */
  readonly requestId: RequestId
  /** The route to take. */
  readonly model: Model
  /** What the client asked for; `effort`, `maxOutputTokens` and `dropped` beside it are decided. */
  readonly request: ChatRequest
  /** The effort or depth to send; `undefined` sends none. Decided by the router; the request's own effort must not be used. */
  readonly effort: Effort | number | undefined
  /** The cap on completion tokens that the hold covers; always sent. */
  readonly maxOutputTokens: number
  /** Wire names of the request parameters that this route leaves out. */
  readonly dropped: ReadonlyArray<string>
  /** Authenticates the attempt in place of the provider's own credential. */
  readonly credential?: ProviderCredential | undefined
  /** The span of the attempt with its tracer, where the application traces its calls: the parent of the provider's own spans. */
  readonly span?: { readonly tracer: Tracer.Tracer; readonly span: Tracer.AnySpan } | undefined
}

/**
 * Receives an attempt's events in order, each call from a new turn of the event loop (never from inside `open`). No call follows
 * `end` or `fail`. `end` means the response is complete: a Finish event was delivered.
 */
export interface Receiver {
  /** Bytes were received from the upstream; the idle deadline starts again. */
  readonly activity: () => void
  /** A part of the response, in order. */
  readonly event: (event: ChatEvent) => void
  /** The response is complete. */
  readonly end: () => void
  /** The attempt has failed. */
  readonly fail: (error: ProviderError) => void
}

/**
 * The socket of an attempt. `close` is idempotent, ends the upstream call at once, and silences the receiver; what it throws is
 * reported as a defect and does not touch the call. What the others throw ends the call.
 */
export interface Upstream {
  /** No more events, please: the reader is slow. */
  readonly pause: () => void
  /** Go on. */
  readonly resume: () => void
  /** Ends the call at the provider. */
  readonly close: () => void
  /**
   * Asked once the call is closed: false where nothing of it can be billed, because its request was never sent or was refused.
   * Left out: a call may be billed from its start.
   */
  readonly mayBill?: () => boolean
}

/**
 * A provider starts calls. It owns the connect deadline and the size limits of responses; the deadlines of first content, idle
 * time and the call belong to the gateway. A call with `request.stream` false is a non-streaming upstream request whose response
 * is delivered as the same events.
 */
export interface Provider {
  /** What model ids begin with. */
  readonly id: string
  /** `open` uses the credential of the call where it has one; to other providers such a call is never sent. */
  readonly takesCredentials?: boolean
  /** Starts the attempt; everything else comes to the receiver. What it throws is a defect of the call: no other provider is tried. */
  readonly open: (call: ProviderCall, receiver: Receiver) => Upstream
  /** Asks about the credential, the provider's own one unless another is given, without the cost of a call. */
  readonly probe?: ((credential?: ProviderCredential) => Effect.Effect<Probed>) | undefined
  /**
   * Ends what still runs of its calls and waits until their resources are released. `ProviderLayer` runs it, for at most five seconds,
   * when it is closed: before the Layers that the provider needs.
   */
  readonly close?: Effect.Effect<void>
}
