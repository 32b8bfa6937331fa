import { type ChatEvent, type FinishReason, finishEvent } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import { dateAt } from "../domain/Dates.ts"
import type { DayKey } from "./CaptureKeys.ts"
import type { Taken } from "./CaptureQueue.ts"
import type { NewSample } from "./CaptureRecords.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"
import { factsOf } from "./Facts.ts"
import { expiryOf } from "./KeyDays.ts"
import { withoutText } from "./TextlessFacts.ts"
import type { WorkerJob } from "./worker/captureWorker.js"
import { isSealed, type SealedOrError } from "./worker/Sealer.ts"
import { keysOf } from "./worker/seal.js"

/** A call with the place of its conversation. */
export interface PlacedCall {
  readonly taken: Taken
  readonly window: CaptureWindow
  readonly day: string
  readonly dayKey: DayKey
  readonly endUser: string | null
}

/** The samples of a conversation that may refer to each other: those under one key. */
export const chainOf = ({ day, dayKey, taken, window }: PlacedCall): string =>
  `${window.projectId} ${window.configVersion} ${taken.record.conversation} ${day} ${Buffer.from(dayKey.sealed).toString("base64")}`

/** What is to be sealed of it. */
export const jobOf = (placed: PlacedCall): WorkerJob => {
  const { day, dayKey, taken, window } = placed
  const { call, events, record } = taken
  const facts = factsOf(record, call.request, finishOf(events))
  return {
    id: call.requestId,
    project: window.projectId,
    day,
    dayKey: dayKey.key,
    content: window.content,
    chain: chainOf(placed),
    facts: window.content === "full" ? facts : withoutText(facts, keysOf(dayKey.key).id),
    ...(call.body !== undefined && call.endpoint === "chat"
      ? { body: call.body, prompt: undefined }
      : { body: undefined, prompt: { messages: call.request.messages, tools: call.request.tools } }),
    answer: answerOf(events)
  }
}

/** What is to be written of it; `undefined` where it could not be sealed. */
export const sampleOf = (placed: PlacedCall, sealed: SealedOrError): NewSample | undefined => {
  if (!isSealed(sealed)) return undefined
  const { day, dayKey, endUser, taken, window } = placed
  const { call, record } = taken
  return {
    id: call.requestId,
    projectId: window.projectId,
    configVersion: window.configVersion,
    conversation: record.conversation,
    day,
    dayKey: dayKey.sealed,
    base: sealed.base,
    keyId: call.caller.keyId,
    endUser,
    flowAuthorized: window.replayAllowed && sealed.mayFlow,
    capturedAt: dateAt(record.startedAtMillis),
    expiresAt: expiryOf(day, window.retentionDays),
    shared: sealed.shared,
    sealed: sealed.sealed
  }
}

const finishOf = (events: ReadonlyArray<ChatEvent>): FinishReason | null =>
  events.find((event) => event._tag === "Finish")?.reason ?? null

/** `null` where nothing of a response has come; the sum of a part of it is ended here. */
const answerOf = (events: ReadonlyArray<ChatEvent>): Answer | null => {
  const sum = new Accumulator()
  for (const event of events) sum.add(event)
  if (sum.answer === undefined && !sum.isEmpty) sum.add(finishEvent())
  return sum.answer ?? null
}
