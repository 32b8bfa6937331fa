import type { ChatEvent, Finish } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProtocolId, SupportTable } from "../../../domain/Support.ts"
import type { ProviderCall } from "../../Provider.ts"
import type { Framing } from "../../transport/Framing.ts"
import { Malformed } from "./Fields.ts"
import type { UpstreamBody } from "./UpstreamBody.ts"

/**
 * The wire protocol of a family of providers, as a pure value: it builds request text and reads response text, and knows neither
 * sockets nor credentials nor time. Every protocol folder has the same files with the same exports: the protocol value, `Lower`,
 * `Messages`, `Tools`, `Reasoning`, `Decode`, `Usage`, `FinishReasons` and `Errors`; other files hold what one protocol has alone.
 */
export interface Protocol {
  readonly id: ProtocolId
  /** How each provider-dependent request parameter is handled. */
  readonly support: SupportTable
  /** Custom tools can be lowered; otherwise they are sent as functions, and calls of them are converted back. */
  readonly takesCustomTools: boolean
  /** Appended to the base URL's path: percent-encoded, including the query. */
  readonly path: (call: ProviderCall) => string
  /** Headers of the protocol itself, such as a version; content type, accept, credential and user agent are added elsewhere. */
  readonly headers: (call: ProviderCall) => Readonly<Record<string, string>>
  /**
   * The upstream body, or why the request cannot be sent. Built from known fields only, without the parameters in
   * `call.dropped`, always with the output cap, and with usage requested for streams.
   */
  readonly lower: (call: ProviderCall) => UpstreamBody | ProviderFailure
  /** Decodes a non-streaming response: all its events, and whether it is complete. Also handles a JSON error with status 200. */
  readonly nonStreaming: (call: ProviderCall, body: string) => Step
  readonly stream: Streaming
  /** Classifies a response whose status is not 2xx. */
  readonly failure: (response: ErrorResponse) => ProviderFailure
}

export interface ErrorResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ResponseHeaders
  /** At most 64 KiB of the body, with credentials removed. */
  readonly body: string
  /** Time of the response, for an HTTP date in `Retry-After`. */
  readonly nowMillis: number
}

export type ResponseHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The result of decoding some input: the events in order, then the state of the response. */
export interface Step {
  readonly events: ReadonlyArray<ChatEvent>
  /** incomplete: more input is needed. complete: nothing is missing (a Finish event was emitted). Otherwise the response has failed. */
  readonly progress: "incomplete" | "complete" | ProviderFailure
}

/**
 * The stream decoder of a protocol, written as a state machine over frames. The state may be mutable: each attempt has its own
 * state, made by `start`. After `complete` or a failure no further input comes.
 */
export interface StreamDecoder<Frame, State> {
  readonly start: (call: ProviderCall) => State
  readonly step: (state: State, frame: Frame) => Step
  /** The upstream has closed the stream in order; the result is never `incomplete`. */
  readonly onEnd: (state: State) => Step
}

/** A stream decoder together with its framing: bytes to steps, with frame and state hidden. */
export interface Streaming {
  /** The media type of a streamed response. */
  readonly mediaType: string
  readonly open: (call: ProviderCall) => AnswerReader
}

export interface AnswerReader {
  readonly push: (bytes: Uint8Array) => Step
  readonly end: () => Step
}

export const streaming = <Frame, State>(framing: Framing<Frame>, machine: StreamDecoder<Frame, State>): Streaming => ({
  mediaType: framing.mediaType,
  open: (call) => {
    const state = machine.start(call)
    const events: Array<ChatEvent> = []
    let progress: Step["progress"] = "incomplete"
    const reader = framing.open((frame) => {
      if (progress !== "incomplete") return
      const step = readable(() => machine.step(state, frame))
      for (const event of step.events) events.push(event)
      progress = step.progress
    })
    return {
      push: (bytes) => {
        events.length = 0
        const violation = reader.push(bytes)
        if (progress === "incomplete" && violation !== undefined) progress = { _tag: "BadResponse", detail: violation }
        return { events, progress }
      },
      end: () => {
        if (progress !== "incomplete") return { events: [], progress }
        const violation = reader.end()
        return violation === undefined
          ? readable(() => machine.onEnd(state))
          : { events: [], progress: { _tag: "BadResponse", detail: violation } }
      }
    }
  }
})

/** Runs a step of a decoder that reads by `Fields`: a field that cannot be read fails the response. */
export const readable = (step: () => Step): Step => {
  try {
    return step()
  } catch (error) {
    if (error instanceof Malformed) return failed({ _tag: "BadResponse", detail: error.detail })
    throw error
  }
}

export const incomplete = (events: ReadonlyArray<ChatEvent> = none): Step => ({ events, progress: "incomplete" })
export const complete = (events: ReadonlyArray<ChatEvent> = none): Step => ({ events, progress: "complete" })
export const failed = (failure: ProviderFailure, events: ReadonlyArray<ChatEvent> = []): Step => ({
  events,
  progress: failure
})

/** The finish of a response that is whole, has content, and does not say why it has finished. */
export const unsaidFinish = (toolCalls: number): Finish => ({
  _tag: "Finish",
  reason: toolCalls > 0 ? "tool_calls" : "stop",
  native: ""
})

/**
 * Clients run tools by the finish reason alone. Some servers finish with `stop` after calls, and some, where a call was asked for,
 * with `tool_calls` without any.
 */
export const finishAfter = (toolCalls: number, reason: Finish["reason"]): Finish["reason"] => {
  if (reason === "stop" && toolCalls > 0) return "tool_calls"
  return reason === "tool_calls" && toolCalls === 0 ? "stop" : reason
}

const none: ReadonlyArray<never> = []
