import * as Redacted from "effect/Redacted"
import { ProviderError, type ProviderFailure } from "../../domain/ProviderError.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import * as Stalls from "../../observe/Stalls.ts"
import { maxBytesInOneTurn } from "../../wire/framing/LargeBody.ts"
import type { Provider, ProviderCall, Receiver, Upstream } from "../Provider.ts"
import * as HttpProbe from "../probe/HttpProbe.ts"
import type { ProbeRequest } from "../probe/Probe.ts"
import { asFunctions } from "../protocols/shared/CustomTools.ts"
import type { Protocol, ResponseHeaders, Step } from "../protocols/shared/Protocol.ts"
import type { UpstreamBody } from "../protocols/shared/UpstreamBody.ts"
import type { Auth, AuthScheme } from "./Auth.ts"
import type { Endpoint } from "./Endpoint.ts"
import { answerBody, ErrorBody, type ResponseBodyReader } from "./ResponseBody.ts"
import { maxResponseBytes } from "./ResponseSize.ts"
import type { AnswerHandler, TransportShape, UpstreamExchange } from "./Transport.ts"

/** A provider over HTTP, composed of independent values: protocol, endpoint, authentication and transport. */
export interface HttpProviderOptions {
  readonly id: string
  readonly protocol: Protocol
  readonly endpoint: Endpoint
  readonly auth: Auth
  /** Of calls that bring a credential; unset: none may. */
  readonly scheme?: AuthScheme
  /** How the provider is asked about a credential without cost; none: it cannot be asked. */
  readonly probe?: ProbeRequest | null
  readonly transport: TransportShape
  readonly timers: TimersShape
  /** Told of what reading an answer throws; the call itself fails with `provider_bad_response`. */
  readonly reportDefect: ReportDefect
}

export type ReportDefect = (defect: unknown, call: ProviderCall) => void

/** After this time an error is classified by the part of its body received so far. */
const errorBodyMillis = 2_000
/** How long the rest of a complete response may take, so that its connection can be reused. */
const lingerMillis = 1_000
const userAgent = "model-routing-gateway/0.1"

export const make = (options: HttpProviderOptions): Provider => {
  const provider = bare(options)
  return options.protocol.takesCustomTools ? provider : asFunctions(provider)
}

const bare = (options: HttpProviderOptions): Provider => ({
  id: options.id,
  takesCredentials: options.scheme !== undefined,
  ...(options.probe !== null &&
    options.probe !== undefined && { probe: HttpProbe.make({ ...options, userAgent }, options.probe) }),
  open: (call, receiver) => {
    const attempt = new HttpAttempt(options, call, receiver)
    attempt.send()
    return attempt
  }
})

class HttpAttempt implements Upstream, AnswerHandler {
  private exchange: UpstreamExchange | undefined
  private body: ResponseBodyReader | undefined
  private isOver = false
  /** The upstream response has ended. */
  private hasEnded = false
  private receivedBytes = 0
  private status: number | undefined
  private readonly maxBytes: number
  private deadline: Cancel | undefined
  private readonly options: HttpProviderOptions
  private readonly auth: Auth
  private readonly call: ProviderCall
  private readonly receiver: Receiver

  constructor(options: HttpProviderOptions, call: ProviderCall, receiver: Receiver) {
    this.options = options
    this.auth =
      call.credential === undefined || options.scheme === undefined
        ? options.auth
        : options.scheme(call.credential.secret)
    this.call = call
    this.receiver = receiver
    this.maxBytes = maxResponseBytes(call)
  }

  send(): void {
    const { protocol, endpoint, transport, timers } = this.options
    const { auth } = this
    const body = protocol.lower(this.call)
    if (isFailure(body)) {
      this.deadline = timers.after(0, () => this.fail(body))
      return
    }
    const unsigned = {
      origin: endpoint.origin,
      path: endpoint.basePath + protocol.path(this.call),
      headers: {
        "content-type": "application/json",
        accept: this.call.request.stream ? protocol.stream.mediaType : "application/json",
        "user-agent": userAgent,
        ...protocol.headers(this.call)
      },
      body
    }
    const dispatch = (): void => {
      const headers = { ...unsigned.headers, ...auth.headers(unsigned, timers.now()) }
      this.exchange = transport.send({ ...unsigned, headers }, this)
    }
    // writing a large body is a separate step, after the step that builds it
    if (body.length > maxBytesInOneTurn) this.deadline = timers.after(0, dispatch)
    else dispatch()
  }

  pause(): void {
    this.exchange?.pause()
  }

  resume(): void {
    this.exchange?.resume()
  }

  /** After its end an attempt has nothing to close: the rest of the response is read, or the connection closed, within `lingerMillis`. */
  close(): void {
    if (this.isOver) return
    this.over()
    this.exchange?.close()
  }

  mayBill(): boolean {
    return this.status === undefined ? this.exchange?.wasSent() === true : isSuccess(this.status)
  }

  head(status: number, headers: ResponseHeaders): void {
    if (this.isOver) return
    this.status = status
    this.receiver.activity()
    if (!isSuccess(status)) {
      const refusal = new ErrorBody((body) => this.classify(status, headers, body))
      this.body = refusal
      this.deadline = this.options.timers.after(errorBodyMillis, () => this.read((body) => body.end()))
      return
    }
    const body = answerBody(this.options.protocol, this.call, headers)
    if ("_tag" in body) this.fail(body)
    else this.body = body
  }

  data(bytes: Uint8Array): void {
    if (this.isOver) return
    this.receiver.activity()
    this.receivedBytes += bytes.length
    if (this.receivedBytes > this.maxBytes) this.fail({ _tag: "ResponseTooLarge" })
    else this.read((body) => body.push(bytes))
  }

  end(): void {
    this.hasEnded = true
    this.exchange = undefined
    if (this.isOver) {
      this.deadline?.()
      return
    }
    this.read((body) => body.end())
  }

  fail(failure: ProviderFailure): void {
    if (this.isOver) {
      this.deadline?.()
      return
    }
    this.over()
    this.exchange?.close()
    this.receiver.fail(
      new ProviderError({
        providerId: this.options.id,
        reason: failure,
        httpStatus: this.status,
        isOwnCredential: this.call.credential !== undefined
      })
    )
  }

  /** Runs in a socket callback: an exception thrown there would be lost and the call would never end. */
  private read(step: (body: ResponseBodyReader) => Step): void {
    const { body } = this
    if (body === undefined) return
    try {
      Stalls.timed(this.call.requestId, "upstream", () => this.take(step(body)))
    } catch (defect) {
      this.options.reportDefect(defect, this.call)
      this.fail({ _tag: "BadResponse", detail: "an answer at which its reader has failed" })
    }
  }

  private take({ events, progress }: Step): void {
    for (const event of events) {
      if (this.isOver) return
      this.receiver.event(event)
    }
    if (this.isOver || progress === "incomplete") return
    if (progress !== "complete") {
      this.fail(this.withoutSecrets(progress))
      return
    }
    this.over()
    this.readOut()
    this.receiver.end()
  }

  /** The rest of a complete response has no content; it must be read before the connection can be reused. */
  private readOut(): void {
    if (this.hasEnded) return
    const exchange = this.exchange
    this.deadline = this.options.timers.after(lingerMillis, () => exchange?.close())
    exchange?.resume()
  }

  /** The text of an event is the provider's, as that of an error response is. */
  private withoutSecrets(failure: ProviderFailure): ProviderFailure {
    if (!("message" in failure)) return failure
    const message = this.redacted(failure.message)
    const shown = { ...failure, message: this.hasPiece(message) ? "The provider rejected the request." : message }
    if (!("param" in shown) || shown.param === null) return shown
    const isTold = this.redacted(shown.param) !== shown.param || this.hasPiece(shown.param)
    return isTold ? { ...shown, param: null } : shown
  }

  private redacted(text: string): string {
    return this.auth.secrets.reduce((clean, secret) => clean.replaceAll(Redacted.value(secret), "[redacted]"), text)
  }

  /** Parts of a credential, such as one split by whitespace, are not redacted: a message that contains a part is not shown at all. */
  private hasPiece(text: string): boolean {
    const joined = text.replace(/\s+/g, "")
    return this.auth.secrets.some((secret) => sharesPiece(joined, Redacted.value(secret)))
  }

  /** What has been read is given up: the call may still wait for its turn, and what lives long costs the garbage collector time. */
  private over(): void {
    this.isOver = true
    this.body = undefined
    this.deadline?.()
  }

  private classify(status: number, headers: ResponseHeaders, body: string): ProviderFailure {
    const { protocol, timers } = this.options
    return protocol.failure({ status, headers, body: this.redacted(body), nowMillis: timers.now() })
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const isFailure = (body: UpstreamBody | ProviderFailure): body is ProviderFailure =>
  typeof body !== "string" && "_tag" in body

/** Shorter pieces occur in ordinary text. */
const secretPieceLength = 10

const sharesPiece = (text: string, secret: string): boolean => {
  for (let at = 0; at + secretPieceLength <= secret.length; at++) {
    if (text.includes(secret.slice(at, at + secretPieceLength))) return true
  }
  return false
}
