import type { ChatEvent } from "../domain/ChatEvent.ts"
import type { ProviderFailure } from "../domain/ProviderError.ts"
import type { ProtocolId, SupportTable } from "../domain/Support.ts"
import { Malformed } from "./Fields.ts"
import type { Framing } from "./Framing.ts"
import type { ProviderCall } from "./Provider.ts"

/**
 * How one family of providers is spoken to, as a pure value: it builds text and reads text, and knows neither sockets nor
 * credentials nor time. Every file in `protocols/` has these sections in this order.
 */
export interface Protocol {
  readonly id: ProtocolId
  /** What becomes of each provider-dependent request parameter. */
  readonly support: SupportTable
  /** Custom tools can be lowered; otherwise they are sent as functions, and their calls are turned back. */
  readonly takesCustomTools: boolean
  /** What is added to the base URL's path, percent-encoded, query included. */
  readonly path: (call: ProviderCall) => string
  /** Headers of the protocol itself (a version); content type, accept, credential and user agent are not its business. */
  readonly headers: (call: ProviderCall) => Readonly<Record<string, string>>
  /**
   * The upstream body as JSON text, or why there can be none. Built from known fields only, without the parameters in
   * `call.dropped`, always with the output cap, and asking for usage when it streams.
   */
  readonly lower: (call: ProviderCall) => string | ProviderFailure
  /** A plain answer: all its events, and whether it is whole. Also takes a JSON error that came with status 200. */
  readonly plain: (call: ProviderCall, body: string) => Step
  readonly stream: Streaming
  /** An answer whose status is not 2xx. */
  readonly failure: (response: ErrorResponse) => ProviderFailure
}

export interface ErrorResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ResponseHeaders
  /** At most 64 KiB of it, credentials already taken out. */
  readonly body: string
  /** When it came, to read an HTTP date in `Retry-After`. */
  readonly nowMillis: number
}

export type ResponseHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** What some input has led to: first the events, in order, then the state of the answer. */
export interface Step {
  readonly events: ReadonlyArray<ChatEvent>
  /** more: not over yet. whole: nothing is missing (a Finish has come). Else the answer has failed. */
  readonly progress: "more" | "whole" | ProviderFailure
}

/**
 * The stream decoder of a protocol, written as a state machine over frames. The state may be mutable: each attempt has its
 * own, made by `start`. After `whole` or a failure no further input comes.
 */
export interface Machine<Frame, State> {
  readonly start: (call: ProviderCall) => State
  readonly step: (state: State, frame: Frame) => Step
  /** The upstream has closed the stream in good order; `more` is not an answer to that. */
  readonly onEnd: (state: State) => Step
}

/** A machine together with its framing: bytes to steps, frame and state hidden. */
export interface Streaming {
  /** The media type that a streamed answer has. */
  readonly mediaType: string
  readonly open: (call: ProviderCall) => AnswerReader
}

export interface AnswerReader {
  readonly push: (bytes: Uint8Array) => Step
  readonly end: () => Step
}

export const streaming = <Frame, State>(framing: Framing<Frame>, machine: Machine<Frame, State>): Streaming => ({
  mediaType: framing.mediaType,
  open: (call) => {
    const state = machine.start(call)
    const events: Array<ChatEvent> = []
    let progress: Step["progress"] = "more"
    const reader = framing.open((frame) => {
      if (progress !== "more") return
      const step = readable(() => machine.step(state, frame))
      for (const event of step.events) events.push(event)
      progress = step.progress
    })
    return {
      push: (bytes) => {
        events.length = 0
        const violation = reader.push(bytes)
        if (progress === "more" && violation !== undefined) progress = { _tag: "BadResponse", detail: violation }
        return { events, progress }
      },
      end: () => {
        if (progress !== "more") return { events: [], progress }
        const violation = reader.end()
        return violation === undefined
          ? readable(() => machine.onEnd(state))
          : { events: [], progress: { _tag: "BadResponse", detail: violation } }
      }
    }
  }
})

/** A step of a decoder that reads by `Fields`: what it cannot read fails the answer. */
export const readable = (step: () => Step): Step => {
  try {
    return step()
  } catch (error) {
    if (error instanceof Malformed) return failed({ _tag: "BadResponse", detail: error.detail })
    throw error
  }
}

export const more = (events: ReadonlyArray<ChatEvent> = none): Step => ({ events, progress: "more" })
export const whole = (events: ReadonlyArray<ChatEvent> = none): Step => ({ events, progress: "whole" })
export const failed = (failure: ProviderFailure, events: ReadonlyArray<ChatEvent> = []): Step => ({
  events,
  progress: failure
})

const none: ReadonlyArray<never> = []
