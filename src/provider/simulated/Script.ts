import type { ChatEvent, FinishReason } from "../../domain/ChatEvent.ts"
import { ProviderError, type ProviderFailure } from "../../domain/ProviderError.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import { type Usage, usage } from "../../domain/Usage.ts"
import type { Receiver, Upstream } from "../Provider.ts"

/** A step of a scripted upstream. A script that ends without `end` or `fail` is cut off: Disconnected. */
export type ScriptStep =
  | { readonly _tag: "Wait"; readonly millis: number }
  /** Bytes without content, such as a comment. */
  | { readonly _tag: "Activity" }
  | { readonly _tag: "Event"; readonly event: ChatEvent }
  | { readonly _tag: "End" }
  | { readonly _tag: "Fail"; readonly reason: ProviderFailure }
  /** Nothing more ever comes. */
  | { readonly _tag: "Hang" }

/** What a scripted provider does, step by step. */
export type Script = ReadonlyArray<ScriptStep>

/** Nothing for so long. */
export const wait = (millis: number): ScriptStep => ({ _tag: "Wait", millis })
/** Bytes without content. */
export const activity: ScriptStep = { _tag: "Activity" }
/** One event of the response. */
export const event = (value: ChatEvent): ScriptStep => ({ _tag: "Event", event: value })
/** A piece of text. */
export const text = (value: string): ScriptStep => event({ _tag: "Text", text: value })
/** The model stops. */
export const finish = (reason: FinishReason = "stop"): ScriptStep => event({ _tag: "Finish", reason, native: reason })
/** The usage so far. */
export const used = (counts: Partial<Omit<Usage, "details">>): ScriptStep =>
  event({ _tag: "Usage", usage: usage(counts) })
/** The response ends. */
export const end: ScriptStep = { _tag: "End" }
/** The attempt fails. */
export const fail = (reason: ProviderFailure): ScriptStep => ({ _tag: "Fail", reason })
/** Nothing more ever comes. */
export const hang: ScriptStep = { _tag: "Hang" }

/** A complete response: the pieces as text, then finish and usage. */
export const answer = (...pieces: ReadonlyArray<string>): Script => [
  ...pieces.map(text),
  finish(),
  used({ inputTokens: 10, outputTokens: pieces.length }),
  end
]

/** Plays a script to a receiver in the time of `timers`, never from inside its own construction. */
export class ScriptPlayer implements Upstream {
  state: "open" | "ended" | "failed" | "closed" = "open"
  closedAtMillis: number | undefined
  pauses = 0
  delivered = 0
  private at = 0
  private paused = false
  private waiting: Cancel | undefined
  private readonly providerId: string
  private readonly timers: TimersShape
  private readonly script: Script
  private readonly receiver: Receiver

  constructor(providerId: string, timers: TimersShape, script: Script, receiver: Receiver) {
    this.providerId = providerId
    this.timers = timers
    this.script = script
    this.receiver = receiver
    this.later(0)
  }

  readonly pause = (): void => {
    if (this.paused) return
    this.paused = true
    this.pauses++
  }

  readonly resume = (): void => {
    if (!this.paused) return
    this.paused = false
    if (this.waiting === undefined) this.later(0)
  }

  readonly close = (): void => {
    this.waiting?.()
    this.waiting = undefined
    if (this.closedAtMillis === undefined) this.closedAtMillis = this.timers.now()
    if (this.state === "open") this.state = "closed"
  }

  private later(millis: number): void {
    this.waiting = this.timers.after(millis, () => {
      this.waiting = undefined
      this.play()
    })
  }

  private play(): void {
    while (this.state === "open" && !this.paused) {
      const step = this.script[this.at++] ?? fail({ _tag: "Disconnected" })
      switch (step._tag) {
        case "Wait":
          this.later(step.millis)
          return
        case "Hang":
          this.at--
          return
        case "Activity":
          this.receiver.activity()
          break
        case "Event":
          this.delivered++
          this.receiver.activity()
          this.receiver.event(step.event)
          break
        case "End":
          this.state = "ended"
          this.receiver.end()
          return
        case "Fail":
          this.state = "failed"
          this.receiver.fail(new ProviderError({ providerId: this.providerId, reason: step.reason }))
          return
      }
    }
  }
}
