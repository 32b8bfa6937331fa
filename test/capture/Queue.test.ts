import { expect, it } from "vitest"
import { CaptureQueue, selectedLater } from "../../src/capture/CaptureQueue.ts"
import type { Known } from "../../src/capture/CaptureWindows.ts"
import type { ObservedCall } from "../../src/domain/CallObserver.ts"
import type { ChatEvent } from "../../src/domain/ChatEvent.ts"
import { record } from "../ledger/fixtures.ts"
import { observedCall, openWindow, startedAtMillis } from "./Observed.ts"

const queueWith = (known: Known | undefined, ...calls: ReadonlyArray<ObservedCall>) => {
  const queue = new CaptureQueue({ peek: () => known, lookUp: () => {}, added: () => {}, lost: () => {} })
  for (const call of calls) {
    queue.observer.admitted?.(call)
    queue.observer.settled?.(call, record())
  }
  return queue
}

/** What is waiting after the call, where `known` are the settings that are cached. */
const takenWith = (known: Known | undefined, call: ObservedCall) => queueWith(known, call).take(10)

it("a call that ends before the settings of its project are known is decided on later, not lost", () => {
  const call = observedCall()
  const [taken, ...more] = takenWith(undefined, call)
  expect(more).toEqual([])
  expect(taken).toMatchObject({ call, selected: undefined })
  const later = (known: Known) => selectedLater(known, call, record())
  expect(later(openWindow())?.window.configVersion).toBe(1)
  expect(later(openWindow({ openedAt: new Date(startedAtMillis + 1) }))).toBeUndefined()
  expect(later(openWindow({ samplingRate: 0 }))).toBeUndefined()
  expect(later(openWindow({ enabled: false }))).toBeUndefined()
  expect(later(null)).toBeUndefined()
})

it("a call is taken only where it opts in, may be stored, and its window takes its conversation", () => {
  expect(takenWith(openWindow(), observedCall())).toMatchObject([{ selected: { window: { configVersion: 1 } } }])
  // the clock of the node that opened the window may be ahead
  expect(takenWith(openWindow({ openedAt: new Date(startedAtMillis + 1) }), observedCall())).toHaveLength(1)
  expect(takenWith(openWindow(), observedCall({ token_doctor: false }))).toEqual([])
  expect(takenWith(openWindow({ samplingRate: 0 }), observedCall())).toEqual([])
  expect(takenWith(openWindow({ enabled: false }), observedCall())).toEqual([])
  expect(takenWith(null, observedCall())).toEqual([])
  for (const known of [openWindow(), undefined]) expect(takenWith(known, observedCall({ store: false }))).toEqual([])
})

it("what does not fit into the queue is lost, and is said to be", () => {
  const lost: Array<string> = []
  const queue = new CaptureQueue({
    peek: () => openWindow(),
    lookUp: () => {},
    added: () => {},
    lost: (reason) => lost.push(reason)
  })
  for (let ended = 0; ended < 258; ended++) {
    const call = observedCall()
    queue.observer.admitted?.(call)
    queue.observer.settled?.(call, record())
  }
  expect(queue.take(1_000)).toHaveLength(256)
  expect(lost).toEqual(["queue_full", "queue_full"])
})

const long = "x".repeat(40 * 1024 * 1024)
it.each<ChatEvent>([
  { _tag: "Text", text: long },
  { _tag: "Refusal", text: long },
  { _tag: "Reasoning", index: 0, kind: "text", text: long },
  { _tag: "ToolCall", index: 0, kind: "function", id: "c", name: "f", arguments: long },
  { _tag: "Audio", audio: { data: long } },
  { _tag: "Text", text: "", logprobs: Array.from({ length: 400_000 }, () => null) }
])("what a response has of $_tag counts in the size of the queue", (event) => {
  const lost: Array<string> = []
  const queue = new CaptureQueue({
    peek: () => openWindow(),
    lookUp: () => {},
    added: () => {},
    lost: (reason) => lost.push(reason)
  })
  for (let ended = 0; ended < 2; ended++) {
    const call = observedCall()
    queue.observer.admitted?.(call)
    queue.observer.chunk?.(call, event)
    queue.observer.settled?.(call, record())
  }
  expect(lost).toEqual(["queue_full"])
})

it("whoever waits for an empty queue waits for what was taken out too, unless they have left", () => {
  const queue = queueWith(openWindow(), observedCall(), observedCall())
  const resumed: Array<string> = []
  queue.whenEmpty(() => resumed.push("waits"))
  const leave = queue.whenEmpty(() => resumed.push("has left"))
  const [first, second] = [queue.take(1), queue.take(10)]
  leave()
  queue.done(first)
  expect(resumed).toEqual([])
  queue.done(second)
  expect(resumed).toEqual(["waits"])
  queue.whenEmpty(() => resumed.push("need not wait"))
  queue.done([])
  expect(resumed).toEqual(["waits", "need not wait"])
})
