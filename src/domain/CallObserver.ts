import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Attempt, CallOrigin, CallRecord } from "./Call.ts"
import type { CallerShape } from "./Caller.ts"
import type { ChatRequest } from "./Chat.ts"
import type { ChatEvent, FinishReason } from "./ChatEvent.ts"
import type { CallFailure } from "./GatewayError.ts"
import type { CredentialId, RequestId } from "./Ids.ts"
import type { Model } from "./Model.ts"
import type { ProviderError } from "./ProviderError.ts"
import type { Usage } from "./Usage.ts"

/** The bytes of a request. They belong to the call: once it is over, whoever observes it may hand them on or detach them. */
export type RequestBytes = Uint8Array & { readonly buffer: ArrayBuffer }

/** The facts of a call that are fixed when it begins. */
export interface ObservedCall {
  /** Of the call, and the client's `x-request-id`. */
  readonly requestId: RequestId
  /** Who pays. */
  readonly caller: CallerShape
  /** As it was decoded. */
  readonly request: ChatRequest
  /** Where the call came in. */
  readonly endpoint: CallRecord["endpoint"]
  /** Who asked for it. */
  readonly origin: CallOrigin
  /** As it was sent; only of a chat completion over HTTP that opts into data collection. */
  readonly body?: RequestBytes | undefined
  /** Milliseconds since the epoch, by `Timers`. */
  readonly startedAtMillis: number
}

/** An attempt that is over. */
export interface EndedAttempt {
  /** The route that was tried. */
  readonly model: Model
  /** As in the response's metadata and in the call log. */
  readonly record: Attempt
  /** `null` for an attempt that succeeded, that the client cancelled, or that a defect of the gateway ended. */
  readonly error: ProviderError | null
  /** From the attempt's start to its first content; `null` when none came or the response was not streamed. */
  readonly firstContentMillis: number | null
  /** The project's own credential; `null`: that of the provider. */
  readonly credentialId: CredentialId | null
  /** As reported, else estimated; `null` where nothing is known of what the attempt has used. */
  readonly usage: Usage | null
  /** `null` where the response has none. */
  readonly finishReason: FinishReason | null
  /** The model's name as the provider reports it. */
  readonly servedModel: string | null
}

/** What follows a failed attempt. */
export type NextStep =
  /** The same candidate is retried. */
  | { readonly _tag: "Retry" }
  | { readonly _tag: "FallBack"; readonly model: Model }
  /** The call fails, or its response ends with the error. */
  | { readonly _tag: "GiveUp" }

/** An attempt whose provider has failed. */
export interface FailedAttempt extends EndedAttempt {
  readonly error: ProviderError
  /** The attempts of the call so far, this one included. */
  readonly number: number
  /** What the gateway does now. */
  readonly next: NextStep
}

/**
 * Receives what happens in a call, in this order: `admitted` once the money is held, then for each attempt `attemptStarted`,
 * `chunk` for each event that reaches the client, `attemptEnded`, `attemptFailed` if its provider has failed and once it is known what follows, and at last `settled`. A request that is refused before its money
 * is held never becomes a call: for it only `refused` is called. The methods run on the call's own turn of the event loop: they
 * must be short. What they throw is reported as a defect and does not touch the call. They are called as functions, without `this`.
 */
export interface CallObserver {
  /** The request never became a call: no money was held for it. */
  readonly refused?: (call: ObservedCall, error: CallFailure) => void
  /** The money is held. */
  readonly admitted?: (call: ObservedCall) => void
  /** The model's provider is about to be called. */
  readonly attemptStarted?: (call: ObservedCall, model: Model) => void
  /** An event on its way to the client. */
  readonly chunk?: (call: ObservedCall, event: ChatEvent) => void
  /** The attempt is over, whatever its end. */
  readonly attemptEnded?: (call: ObservedCall, attempt: EndedAttempt) => void
  /** Its provider has failed, and it is known what follows. */
  readonly attemptFailed?: (call: ObservedCall, attempt: FailedAttempt) => void
  /** The call is over; this is what is charged and logged. */
  readonly settled?: (call: ObservedCall, record: CallRecord) => void
}

/** The observers of all calls of a gateway; none unless a Layer names them. */
export class CallObservers extends Context.Reference<CallObservers>()("gateway/domain/CallObservers", {
  defaultValue: (): ReadonlyArray<CallObserver> => []
}) {
  /** These observers, in this order. */
  static readonly layer = (...observers: ReadonlyArray<CallObserver>): Layer.Layer<CallObservers> =>
    Layer.succeed(CallObservers, observers)
}

/** All observers as one; `failed` receives what an observer has thrown. */
export const combine = (
  observers: ReadonlyArray<CallObserver>,
  failed: (defect: unknown) => void
): Required<CallObserver> => {
  const notify = <Value>(listeners: ReadonlyArray<(call: ObservedCall, value: Value) => void>) =>
    listeners.length === 0
      ? () => {}
      : (call: ObservedCall, value: Value): void => {
          for (const listener of listeners) {
            try {
              listener(call, value)
            } catch (defect) {
              failed(defect)
            }
          }
        }
  const admitted = notify<void>(Arr.filterMap(observers, ({ admitted }) => Option.fromNullable(admitted)))
  return {
    refused: notify(Arr.filterMap(observers, ({ refused }) => Option.fromNullable(refused))),
    admitted: (call) => admitted(call, undefined),
    attemptStarted: notify(Arr.filterMap(observers, ({ attemptStarted }) => Option.fromNullable(attemptStarted))),
    chunk: notify(Arr.filterMap(observers, ({ chunk }) => Option.fromNullable(chunk))),
    attemptEnded: notify(Arr.filterMap(observers, ({ attemptEnded }) => Option.fromNullable(attemptEnded))),
    attemptFailed: notify(Arr.filterMap(observers, ({ attemptFailed }) => Option.fromNullable(attemptFailed))),
    settled: notify(Arr.filterMap(observers, ({ settled }) => Option.fromNullable(settled)))
  }
}
