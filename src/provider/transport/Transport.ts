import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Agent, Dispatcher } from "undici"
import type { ProviderFailure } from "../../domain/ProviderError.ts"
import { acquireAgent } from "../../egress/Agent.ts"
import type { ProxyOptions } from "../../egress/Proxy.ts"
import type { ResponseHeaders } from "../protocols/shared/Protocol.ts"
import type { Outgoing } from "./Auth.ts"
import { fromSocketError } from "./SocketError.ts"

/** Receives the response of one request. Exactly one of `end` and `fail` is called, or neither if the exchange is closed first. */
export interface AnswerHandler {
  readonly head: (status: number, headers: ResponseHeaders) => void
  readonly data: (bytes: Uint8Array) => void
  readonly end: () => void
  readonly fail: (failure: ProviderFailure) => void
}

export interface UpstreamExchange {
  readonly pause: () => void
  readonly resume: () => void
  /** Destroys the socket unless the response has ended. Idempotent. */
  readonly close: () => void
  /** A connection was there to write the request to. After `close` this no longer changes. */
  readonly wasSent: () => boolean
}

export interface TransportShape {
  /** The handler is never called before `send` has returned. */
  readonly send: (outgoing: Outgoing, handler: AnswerHandler) => UpstreamExchange
}

export interface TransportSettings {
  /** As of `AgentOptions`. */
  readonly connectMillis: number
  readonly proxy?: ProxyOptions
}

/** Providers keep idle connections for at least a minute; a longer keep-alive hint is followed up to ten minutes. */
const keepAliveMillis = 60_000
const maxKeepAliveMillis = 600_000
const responseHeaderBytes = 64 * 1024

/** Calls to providers: one pool of connections per origin, no redirects, no retries, no deadline but the connect. */
export class Transport extends Context.Tag("gateway/provider/Transport")<Transport, TransportShape>() {
  static readonly layer = (settings: TransportSettings): Layer.Layer<Transport> =>
    Layer.scoped(
      this,
      Effect.map(
        acquireAgent({
          connectMillis: settings.connectMillis,
          proxy: settings.proxy ?? {},
          connected: (socket) => {
            const before = socket.bytesRead
            socket.once("error", (error) => answeredBefore.set(error, socket.bytesRead > before))
          },
          pool: {
            pipelining: 1,
            headersTimeout: 0,
            bodyTimeout: 0,
            keepAliveTimeout: keepAliveMillis,
            keepAliveMaxTimeout: maxKeepAliveMillis,
            maxHeaderSize: responseHeaderBytes
          }
        }),
        make
      )
    )
}

const make = (agent: Agent): TransportShape => {
  const reuse = new Map<string, Reuse>()
  const reuseOf = (origin: string): Reuse => {
    const known = reuse.get(origin)
    if (known !== undefined) return known
    const made = new Reuse()
    reuse.set(origin, made)
    return made
  }
  return {
    send: (outgoing, handler) => {
      const exchange = new UndiciExchange(handler, reuseOf(outgoing.origin))
      exchange.dispatch(agent, outgoing)
      return exchange
    }
  }
}

/** A reset of a reused connection adds two, a response subtracts one; above this, connections are not reused. */
const maxResetScore = 2
/** Calls with a new connection each, before reuse is tried again. */
const callsUnreused = 100

/**
 * Whether connections of one origin can be reused. Some servers announce keep-alive and reset the connection when it is used: each
 * call would then need a retry.
 */
class Reuse {
  private resetScore = 0
  private callsLeft = 0

  /** Called once for each call. */
  closesAfterCall(): boolean {
    if (this.callsLeft === 0) return false
    this.callsLeft -= 1
    return true
  }

  answered(): void {
    if (this.resetScore > 0) this.resetScore -= 1
  }

  wasReset(): void {
    this.resetScore += 2
    if (this.resetScore <= maxResetScore) return
    this.resetScore = 0
    this.callsLeft = callsUnreused
  }
}

/** Whether a broken socket had delivered a response before: a later request without a response cannot have been processed. */
const answeredBefore = new WeakMap<Error, boolean>()

class UndiciExchange implements UpstreamExchange, Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined
  private state: "sending" | "answering" | "over" = "sending"
  private paused = false
  private sent = false
  /** True while `send` is running; callbacks then wait for the next turn of the event loop. */
  private starting = true
  private readonly handler: AnswerHandler
  private readonly reuse: Reuse

  constructor(handler: AnswerHandler, reuse: Reuse) {
    this.handler = handler
    this.reuse = reuse
  }

  dispatch(agent: Agent, { body, headers, method = "POST", origin, path }: Outgoing): void {
    try {
      const reset = this.reuse.closesAfterCall()
      agent.dispatch(
        { origin, path, method, headers: { ...headers }, body: method === "GET" ? null : body, reset },
        this
      )
    } catch (error) {
      this.over(error)
    }
    this.starting = false
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.state === "over") {
      controller.abort(closed)
      return
    }
    this.sent = true
    if (this.paused) controller.pause()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.state !== "sending" || status < 200) return
    this.state = "answering"
    this.reuse.answered()
    this.handler.head(status, headers)
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Uint8Array): void {
    if (this.state === "answering") this.handler.data(bytes)
  }

  onResponseEnd(): void {
    if (this.state !== "answering") return
    this.state = "over"
    this.controller = undefined
    this.handler.end()
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: unknown): void {
    this.over(error)
  }

  pause(): void {
    if (this.paused) return
    this.paused = true
    this.controller?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.controller?.resume()
  }

  close(): void {
    if (this.state === "over") return
    this.state = "over"
    this.controller?.abort(closed)
  }

  wasSent(): boolean {
    return this.sent
  }

  private over(error: unknown): void {
    if (this.state === "over") return
    if (this.starting) {
      setImmediate(() => this.over(error))
      return
    }
    const failure = fromSocketError(error, this.state, isError(error) ? answeredBefore.get(error) : undefined)
    this.state = "over"
    if (failure._tag === "Unreachable" && failure.detail === "reset-before-response") this.reuse.wasReset()
    this.handler.fail(failure)
  }
}

const isError = (error: unknown): error is Error => error instanceof Error

/** Seen only by undici, which requires a reason. */
const closed = new Error("closed by the gateway")
