import type { CallRecord } from "../domain/Call.ts"
import type { CallObserver, ObservedCall } from "../domain/CallObserver.ts"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import type { ProjectId } from "../domain/Ids.ts"
import type { CaptureLoss } from "./CaptureLoss.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"
import type { Known } from "./CaptureWindows.ts"
import { positionOf } from "./Reservoir.ts"

/** Where a conversation stands in a window that takes it. */
export interface Selected {
  readonly window: CaptureWindow
  readonly position: number
}

/** A call that the collection takes, on its way to the store. */
export interface Taken {
  readonly call: ObservedCall
  readonly record: CallRecord
  /** `undefined` where the settings were not known yet when it ended: `selectedLater` says. */
  readonly selected: Selected | undefined
  /** Those of the response that have reached the client; summing them up is left for later. */
  readonly events: ReadonlyArray<ChatEvent>
  readonly bytes: number
}

/** Waiting or being written: more would take the memory of calls. */
const maxTaken = 256
const maxTakenBytes = 64 * 1024 * 1024

interface Recorder {
  /** `undefined` until the settings are known. */
  readonly window: CaptureWindow | undefined
  readonly events: Array<ChatEvent>
  /** Characters of text in them. */
  characters: number
}

export interface CaptureQueueOptions {
  readonly peek: (project: ProjectId) => Known | undefined
  /** Begins to look up settings that `peek` does not know. */
  readonly lookUp: (project: ProjectId) => void
  /** There is something to take out. */
  readonly added: () => void
  readonly lost: CaptureLoss["lost"]
}

/**
 * Follows the calls that opt in, from their admission to their settlement, and keeps those that are to be written. It runs on the
 * turns of calls: nothing here waits, fails a call or grows without bound.
 */
export class CaptureQueue {
  private readonly options: CaptureQueueOptions
  private readonly recorders = new WeakMap<ObservedCall, Recorder>()
  private waiting: Array<Taken> = []
  private taken = 0
  private takenBytes = 0
  private readonly waiters = new Set<() => void>()

  constructor(options: CaptureQueueOptions) {
    this.options = options
  }

  readonly observer: CallObserver = {
    admitted: (call) => {
      if (call.request.tokenDoctor) this.begin(call)
    },
    chunk: (call, event) => {
      if (call.request.tokenDoctor) this.saw(call, event)
    },
    settled: (call, record) => {
      if (call.request.tokenDoctor) this.end(call, record)
    }
  }

  /** The oldest ones; `done` says that they are written or dropped. */
  take(max: number): ReadonlyArray<Taken> {
    const some = this.waiting.slice(0, max)
    this.waiting = this.waiting.slice(max)
    return some
  }

  done(taken: ReadonlyArray<Taken>): void {
    this.taken -= taken.length
    for (const { bytes } of taken) this.takenBytes -= bytes
    if (this.taken > 0) return
    const waiters = [...this.waiters]
    this.waiters.clear()
    for (const resume of waiters) resume()
  }

  /** Calls back once nothing waits, and nothing that was taken out is still being written; what it returns ends the wait. */
  whenEmpty(resume: () => void): () => void {
    if (this.taken === 0) resume()
    else this.waiters.add(resume)
    return () => this.waiters.delete(resume)
  }

  private begin(call: ObservedCall): void {
    // what an analysis sends is the content of samples already
    if (call.origin !== "user") return
    const { projectId } = call.caller
    const known = this.options.peek(projectId)
    if (known === undefined) this.options.lookUp(projectId)
    else if (known?.enabled !== true) return
    this.recorders.set(call, { window: known ?? undefined, events: [], characters: 0 })
  }

  private saw(call: ObservedCall, event: ChatEvent): void {
    const recorder = this.recorders.get(call)
    if (recorder === undefined) return
    recorder.events.push(event)
    recorder.characters += charactersIn(event)
  }

  private end(call: ObservedCall, record: CallRecord): void {
    const recorder = this.recorders.get(call)
    if (recorder === undefined) return
    this.recorders.delete(call)
    const known = recorder.window ?? this.options.peek(call.caller.projectId)
    const selected =
      recorder.window === undefined ? selectedLater(known ?? null, call, record) : selectedIn(recorder.window, record)
    if (known !== undefined && selected === undefined) return
    if (call.request.store === false) {
      if (selected !== undefined) this.options.lost("store_false")
      return
    }
    const { characters, events } = recorder
    const bytes = (call.body?.length ?? charactersOf(call)) + characters + events.length * bytesOfEvent
    if (this.taken >= maxTaken || this.takenBytes + bytes > maxTakenBytes) {
      this.options.lost("queue_full")
      return
    }
    this.taken += 1
    this.takenBytes += bytes
    this.waiting.push({ call, record, selected, events, bytes })
    this.options.added()
  }
}

const selectedIn = (window: CaptureWindow, { conversation }: CallRecord): Selected | undefined => {
  const position = positionOf(window.salt, window.configVersion, conversation)
  return position < window.samplingRate ? { window, position } : undefined
}

/** For a call that was admitted before the settings were known: they count if they were active by then. */
export const selectedLater = (known: Known, call: ObservedCall, record: CallRecord): Selected | undefined =>
  known?.enabled === true && known.openedAt.getTime() <= call.startedAtMillis ? selectedIn(known, record) : undefined

/** Of the object of an event, without its text. */
const bytesOfEvent = 64
const charactersOfLogprob = 128

const charactersIn = (event: ChatEvent): number => {
  switch (event._tag) {
    case "Text":
      return event.text.length + (event.logprobs?.length ?? 0) * charactersOfLogprob
    case "Refusal":
    case "Reasoning":
      return event.text.length
    case "ToolCall":
      return event.arguments.length
    case "Audio":
      return typeof event.audio["data"] === "string" ? event.audio["data"].length : 0
    default:
      return 0
  }
}

/** Of a request whose bytes are not at hand. */
const charactersOf = ({ request: { messages } }: ObservedCall): number => {
  let characters = 0
  for (const { content } of messages) {
    if (typeof content === "string") characters += content.length
    else for (const part of content ?? []) characters += "text" in part ? part.text.length : charactersOfPart
  }
  return characters
}
/** An image or a file in a request may be as large as a request. */
const charactersOfPart = 1024 * 1024
