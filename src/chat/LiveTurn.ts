import * as Effect from "effect/Effect"
import type { Cost } from "../domain/Call.ts"
import type { RequestId } from "../domain/Ids.ts"
import { toStorable } from "../domain/StorableText.ts"
import type { Cancel } from "../domain/Timers.ts"
import type { TrailStep } from "../observe/CallTrails.ts"
import type { ChatArtifactEventOut } from "../wire/account/Chat.ts"
import type { Answer, Progress, Step } from "./MessageStore.ts"

/** What happens to an answer beside its text. */
export type Notice =
  | { readonly _tag: "Attempt"; readonly requestId: RequestId; readonly step: TrailStep }
  | { readonly _tag: "Artifact"; readonly event: ChatArtifactEventOut }

/** An artifact whose text the model is writing. */
export interface Draft {
  readonly name: string
  readonly text: string
}

/** What can be read of an answer that is being written. All of it only grows. */
export interface TurnView {
  readonly answer: Answer
  readonly content: string
  readonly reasoning: string
  readonly notices: ReadonlyArray<Notice>
  readonly drafts: ReadonlyArray<Draft>
  readonly isEnded: boolean
}

/** How much of an answer a reader has read. */
export interface ReadPosition {
  readonly content: number
  readonly reasoning: number
  readonly notices: number
  readonly drafts: ReadonlyArray<number>
}

export const unread: ReadPosition = { content: 0, reasoning: 0, notices: 0, drafts: [] }

/** A part of an answer that a reader has not read yet. */
export type Part =
  | { readonly _tag: "Delta" | "Reasoning"; readonly offset: number; readonly text: string }
  | { readonly _tag: "Draft"; readonly name: string; readonly offset: number; readonly text: string }
  | Notice

/** What is new since `position`, in few parts however much it is, and the position after it. */
export const readFrom = (
  view: Omit<TurnView, "answer">,
  position: ReadPosition
): { readonly parts: ReadonlyArray<Part>; readonly position: ReadPosition } => {
  const parts: Array<Part> = []
  if (view.reasoning.length > position.reasoning) {
    parts.push({ _tag: "Reasoning", offset: position.reasoning, text: view.reasoning.slice(position.reasoning) })
  }
  if (view.content.length > position.content) {
    parts.push({ _tag: "Delta", offset: position.content, text: view.content.slice(position.content) })
  }
  view.drafts.forEach(({ name, text }, index) => {
    const offset = position.drafts[index] ?? 0
    if (text.length > offset) parts.push({ _tag: "Draft", name, offset, text: text.slice(offset) })
  })
  parts.push(...view.notices.slice(position.notices))
  return { parts, position: endOf(view) }
}

/** The position of who has read everything. */
export const endOf = ({ content, drafts, notices, reasoning }: Omit<TurnView, "answer">): ReadPosition => ({
  content: content.length,
  reasoning: reasoning.length,
  notices: notices.length,
  drafts: drafts.map(({ text }) => text.length)
})

/** The content of an answer. */
export const maxContentCharacters = 1024 * 1024

/** An answer that this process writes: all text in memory, for any number of readers, none of whom it waits for. */
export class LiveTurn implements TurnView {
  readonly answer: Answer
  notices: ReadonlyArray<Notice> = []
  drafts: ReadonlyArray<Draft> = []
  steps: ReadonlyArray<Step> = []
  modelUsed: string | null = null
  requestIds: ReadonlyArray<RequestId> = []
  finishReason: string | null = null
  /** The person has asked for its end. */
  isStopRequested = false
  isEnded = false
  private readonly text = new WellFormed(maxContentCharacters)
  private readonly reasoned = new WellFormed(Number.POSITIVE_INFINITY)
  private cost: Pick<Cost, "amount_microusd" | "basis"> = { amount_microusd: 0, basis: "charged" }
  private readonly listeners = new Set<() => void>()

  constructor(answer: Answer) {
    this.answer = answer
  }

  get content(): string {
    return this.text.value
  }

  get reasoning(): string {
    return this.reasoned.value
  }

  /** Its content is as long as it may be; what comes after it is left out. */
  get isFull(): boolean {
    return this.text.isFull
  }

  get progress(): Progress {
    const { content, modelUsed, reasoning, requestIds, steps } = this
    const { amount_microusd, basis } = this.cost
    return { content, reasoning, steps, modelUsed, requestIds, costMicroUsd: amount_microusd, costBasis: basis }
  }

  append(text: string): void {
    this.text.append(text)
    this.changed()
  }

  reason(text: string): void {
    this.reasoned.append(text)
    this.changed()
  }

  notice(notice: Notice): void {
    this.notices = [...this.notices, notice]
    this.changed()
  }

  /** More of an artifact's text. One that is written again starts over, as another draft. */
  draft(draft: Draft): void {
    const last = this.drafts.findLastIndex(({ name }) => name === draft.name)
    const continues = last !== -1 && draft.text.startsWith(this.drafts[last]?.text ?? "")
    this.drafts = continues ? this.drafts.with(last, draft) : [...this.drafts, draft]
    this.changed()
  }

  /** What one of its calls has cost. */
  charged({ amount_microusd, basis }: Cost): void {
    this.cost = {
      amount_microusd: this.cost.amount_microusd + amount_microusd,
      basis: basis === "estimated" ? basis : this.cost.basis
    }
  }

  /** No more text comes: what is left of a broken character is written too. */
  close(): void {
    this.text.close()
    this.reasoned.close()
    this.changed()
  }

  /** It is stored as it ended. */
  end(): void {
    this.isEnded = true
    this.changed()
  }

  /** Called after each change, without delay. */
  readonly onChange = (listener: () => void): Cancel => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private changed(): void {
    for (const listener of this.listeners) listener()
  }
}

export const until = (turn: Pick<LiveTurn, "onChange">, condition: () => boolean): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (condition()) return resume(Effect.void)
    const cancel = turn.onChange(() => {
      if (!condition()) return
      cancel()
      resume(Effect.void)
    })
    return Effect.sync(cancel)
  })

/** Text that a database can store: half a character waits for its other half, and what can never be one is replaced. */
class WellFormed {
  value = ""
  private half = ""
  private readonly max: number

  constructor(max: number) {
    this.max = max
  }

  get isFull(): boolean {
    return this.value.length + this.half.length >= this.max
  }

  append(text: string): void {
    const all = (this.half + text).slice(0, this.max - this.value.length)
    const isHalf = /[\uD800-\uDBFF]$/.test(all)
    this.half = isHalf ? all.slice(-1) : ""
    this.value += toStorable(isHalf ? all.slice(0, -1) : all)
  }

  close(): void {
    if (this.half !== "") this.value += "\ufffd"
    this.half = ""
  }
}
