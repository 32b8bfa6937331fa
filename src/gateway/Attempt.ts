import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { type ChatEvent, isContent } from "../domain/ChatEvent.ts"
import { ProviderError, type ProviderFailure } from "../domain/ProviderError.ts"
import type { TimersShape } from "../domain/Timers.ts"
import type { ProviderCall, Receiver, Upstream } from "../provider/Provider.ts"
import type { ProvidersShape } from "../provider/Providers.ts"
import { AttemptDeadlines } from "./AttemptDeadlines.ts"
import type { OpenUpstream } from "./Call.ts"
import type { RunningAttempt } from "./CallState.ts"
import type { Deadlines } from "./Deadlines.ts"
import { ToolArguments } from "./ToolArguments.ts"
import { UsageWait } from "./UsageWait.ts"

export interface AttemptDeps {
  readonly providers: ProvidersShape
  readonly timers: TimersShape
  /** A provider has thrown as its call was closed: that is reported, and changes nothing about the call. */
  readonly closeFailed: (defect: unknown) => void
}

export interface AttemptOptions {
  readonly attempt: RunningAttempt
  readonly call: ProviderCall
  /** Already scaled for this candidate. */
  readonly deadlines: Deadlines
  /** When the whole call has to be over, by `Timers`. */
  readonly endsAtMillis: number
  /** An empty response is accepted: no other candidate is left. */
  readonly acceptEmpty: boolean
  /** How far the response must have come before the attempt counts as open. */
  readonly until: "first-content" | "end"
}

/** How an upstream response ended. */
export type End =
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Failed"; readonly error: ProviderError }
  /** Something has thrown while an event was passed on: code of the gateway, or a provider that was to pause or to go on. */
  | { readonly _tag: "Died"; readonly defect: unknown }

/** Where the events of an opened response go. */
export interface Reader {
  /** False: nothing more is read until `drained` calls back. */
  readonly event: (event: ChatEvent) => boolean
  readonly drained: (resume: () => void) => void
  /** Called exactly once, also when `event` throws. */
  readonly end: (end: End) => void
}

/** A response that has come as far as was asked for. Its events so far are buffered, and it is paused until it is relayed. */
export interface Opened {
  readonly attempt: RunningAttempt
  /** Called once: delivers what is buffered, then what comes. */
  readonly relay: (reader: Reader) => void
  /** Closes the upstream after `millis`, unless it ends before: a socket that ends by itself can be used again. */
  readonly closeAfter: (millis: number) => void
}

/** Start-up events before the first content; more are treated as a bad response. */
const maxStartupEvents = 64

/**
 * Opens one upstream response. Interruption closes it; once it is open it belongs to the call, whose end closes it. The
 * canceller stands around the wait: returning it from `Effect.async` does the same and costs 15 µs, a twentieth of a call
 * (measured, Effect 3.22 on Node 20).
 */
export const open = (
  deps: AttemptDeps,
  owner: { readonly own: (upstream: OpenUpstream) => void },
  options: AttemptOptions
): Effect.Effect<Opened, ProviderError> =>
  Effect.suspend(() => {
    let attempt: Attempt | undefined
    const opened = Effect.async<Opened, ProviderError>((resume) => {
      attempt = new Attempt(deps, options, resume)
      owner.own(attempt)
    })
    return Effect.uninterruptible(
      Effect.matchCauseEffect(Effect.interruptible(opened), {
        onSuccess: Effect.succeed,
        onFailure: (cause) => {
          if (Cause.isInterrupted(cause)) attempt?.close()
          return Effect.failCause(cause)
        }
      })
    )
  })

/** In the place of an upstream while its provider still opens it. */
const unopened: Upstream = {
  pause: () => {
    throw new Error("a provider has sent content from inside `open`: its receiver is to be called later")
  },
  resume: () => {},
  close: () => {}
}

/**
 * Events come from a socket's callback, where nothing waits for an Effect: one Effect an event costs more than its
 * translation. The class is the state machine between the two.
 */
class Attempt implements Opened, OpenUpstream, Receiver {
  private phase: "opening" | "open" | "relaying" | "over" = "opening"
  private ended: End | undefined
  private isFinished = false
  private hasContent = false
  private isPausedByReader = false
  private reader: Reader | undefined
  private buffered: Array<ChatEvent> = []
  private readonly timers: TimersShape
  private readonly closeFailed: AttemptDeps["closeFailed"]
  private readonly options: AttemptOptions
  private readonly opened: (result: Effect.Effect<Opened, ProviderError>) => void
  private readonly deadlines: AttemptDeadlines
  /** Of a response that is collected: one that is relayed waits at its reader. */
  private readonly usageWait: UsageWait | undefined
  private upstream: Upstream = unopened
  /** Set where the client reads arguments as objects. */
  private readonly arguments: ToolArguments | undefined

  constructor(
    { closeFailed, providers, timers }: AttemptDeps,
    options: AttemptOptions,
    opened: (result: Effect.Effect<Opened, ProviderError>) => void
  ) {
    const { deadlines, endsAtMillis, until } = options
    const isStream = until === "first-content"
    const late: ProviderFailure = { _tag: isStream ? "FirstContentTimeout" : "AnswerTimeout" }
    this.timers = timers
    this.closeFailed = closeFailed
    this.options = options
    this.opened = opened
    this.arguments = options.call.request.objectArguments === true ? new ToolArguments() : undefined
    this.deadlines = new AttemptDeadlines({
      timers,
      firstMillis: isStream ? deadlines.firstContentMillis : deadlines.plainAnswerMillis,
      late,
      idleMillis: deadlines.idleMillis,
      endsAtMillis,
      // before the response is open, silence is one more way of being late with it
      expire: (reason) => this.failWith(reason._tag === "Stalled" && this.phase === "opening" ? late : reason)
    })
    this.usageWait = isStream ? undefined : new UsageWait(timers, () => this.over({ _tag: "Ended" }))
    this.upstream = providers.open(options.call, this)
    if (this.phase === "over") this.closeUpstream()
    this.deadlines.start()
  }

  readonly activity = (): void => this.deadlines.mark()

  readonly event = (event: ChatEvent): void => {
    if (this.ended !== undefined) return
    try {
      this.receive(event)
    } catch (defect) {
      // without this the call would neither go on nor end: nothing waits for what a socket's callback throws
      this.died(defect)
    }
  }

  readonly end = (): void => (this.isFinished ? this.over({ _tag: "Ended" }) : this.failWith({ _tag: "Disconnected" }))

  /** The provider reports a failure (a ProviderError), or the call is aborted (its reason). */
  readonly fail = (failure: ProviderError | ProviderFailure): void =>
    failure instanceof ProviderError ? this.over({ _tag: "Failed", error: failure }) : this.failWith(failure)

  get attempt(): RunningAttempt {
    return this.options.attempt
  }

  close(): void {
    this.deadlines.stop()
    this.usageWait?.stop()
    this.closeUpstream()
  }

  closeAfter(millis: number): void {
    this.deadlines.stop()
    this.timers.after(millis, () => this.close())
  }

  relay(reader: Reader): void {
    this.reader = reader
    this.phase = "relaying"
    const { buffered } = this
    this.buffered = []
    for (const event of buffered) {
      if (!this.isRelaying()) return
      try {
        this.deliver(event)
      } catch (defect) {
        this.died(defect)
      }
    }
    if (!this.isRelaying()) return
    if (this.ended !== undefined) {
      this.phase = "over"
      reader.end(this.ended)
      return
    }
    if (!this.isPausedByReader) this.resume()
  }

  private receive(event: ChatEvent): void {
    const violation = this.violationOf(event)
    if (violation !== undefined) this.failWith(violation)
    else if (this.phase === "relaying") this.deliver(event)
    else this.buffer(event)
  }

  /** Keeps the order of a response's events: content, then a finish that something explains, then nothing but facts. */
  private violationOf(event: ChatEvent): ProviderFailure | undefined {
    if (this.isFinished && isPartOfResponse(event)) return { _tag: "BadResponse", detail: "content after the finish" }
    if (event._tag === "Finish") {
      if (!this.hasContent && this.isEmptyFinish(event)) return { _tag: "EmptyCompletion" }
      // what an output cap or a filter has cut short is no object, and the finish reason says so
      const isCut = event.reason === "length" || event.reason === "content_filter"
      if (!isCut && this.arguments?.areObjects() === false) return badArguments
      if (!this.isFinished) this.usageWait?.finished()
      this.isFinished = true
    } else if (event._tag === "Usage" && this.isFinished) this.usageWait?.reported()
    if (event._tag === "ToolCall") this.arguments?.add(event)
    this.hasContent ||= isContent(event)
    return undefined
  }

  private buffer(event: ChatEvent): void {
    this.buffered.push(event)
    // what the provider has told is charged, even if the client leaves before it is sent anything
    if (event._tag === "Usage") this.attempt.tally.add(event)
    if (this.phase !== "opening" || this.options.until === "end") return
    if (this.hasContent) {
      this.deadlines.pause()
      this.upstream.pause()
      this.open()
    } else if (this.buffered.length > maxStartupEvents) {
      this.failWith({ _tag: "BadResponse", detail: "too many events before the first content" })
    }
  }

  private open(): void {
    this.phase = "open"
    this.opened(Effect.succeed(this))
  }

  private deliver(event: ChatEvent): void {
    // what has been received is still delivered: the reader is asked once when it will go on
    if (this.reader === undefined || this.reader.event(event) || this.isPausedByReader) return
    this.isPausedByReader = true
    this.upstream.pause()
    this.deadlines.pause()
    this.reader.drained(() => {
      this.isPausedByReader = false
      this.resume()
    })
  }

  private resume(): void {
    this.deadlines.resume()
    try {
      this.upstream.resume()
    } catch (defect) {
      this.died(defect)
    }
  }

  /** The response may have ended before, while its events were still buffered: it is not whole. */
  private died(defect: unknown): void {
    this.ended = undefined
    this.over({ _tag: "Died", defect })
  }

  private closeUpstream(): void {
    try {
      this.upstream.close()
      if (this.upstream.mayBill?.() === false) this.attempt.tally.isUnbillable = true
    } catch (defect) {
      this.closeFailed(defect)
    }
  }

  private over(received: End): void {
    if (this.ended !== undefined) return
    const isWhole = received._tag === "Failed" && this.isCollectedWhole(received.error)
    const end: End = isWhole ? { _tag: "Ended" } : received
    this.ended = end
    this.deadlines.stop()
    this.usageWait?.stop()
    if (received._tag !== "Ended") this.closeUpstream()
    if (this.phase === "relaying") {
      this.phase = "over"
      this.reader?.end(end)
    } else if (this.phase === "opening") {
      if (end._tag === "Ended") this.open()
      else {
        this.phase = "over"
        this.opened(end._tag === "Failed" ? Effect.fail(end.error) : Effect.die(end.defect))
      }
    }
  }

  private failWith(reason: ProviderFailure): void {
    this.over({ _tag: "Failed", error: new ProviderError({ providerId: this.options.call.model.providerId, reason }) })
  }

  /** A response that is relayed has its reader, which knows what it has passed on. */
  private isCollectedWhole(error: ProviderError): boolean {
    return this.isFinished && this.options.until === "end" && !contradictsFinish(error)
  }

  private isRelaying(): boolean {
    return this.phase === "relaying"
  }

  /** `length` and `content_filter` explain an empty response; `stop` and a missing reason do not. */
  private isEmptyFinish({ native, reason }: { readonly reason: string; readonly native: string }): boolean {
    return native === "" || ((reason === "stop" || reason === "tool_calls") && !this.options.acceptEmpty)
  }
}

/**
 * Once the model has finished, a broken connection takes nothing away; a response that goes on after its finish, or whose
 * events cannot be read, was never complete.
 */
export const contradictsFinish = (error: ProviderError): boolean => error.reason._tag === "BadResponse"

const badArguments: ProviderFailure = {
  _tag: "BadResponse",
  detail: "arguments of a tool call that are not a JSON object"
}

/** A part of the response itself; what describes the response (usage, model, a repeated finish) may follow its finish. */
const isPartOfResponse = (event: ChatEvent): boolean =>
  event._tag !== "Finish" && (isContent(event) || event._tag === "Annotation")
