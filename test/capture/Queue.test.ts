import { randomUUID } from "node:crypto"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { CaptureQueue, selectedLater } from "../../src/capture/CaptureQueue.ts"
import { type CaptureWindow, defaultSettings } from "../../src/capture/CaptureWindow.ts"
import type { Known } from "../../src/capture/CaptureWindows.ts"
import type { ObservedCall } from "../../src/domain/CallObserver.ts"
import { AccountId, KeyId, ProjectId, RequestId } from "../../src/domain/Ids.ts"
import { decode } from "../../src/wire/chat/ChatRequest.ts"
import { record } from "../ledger/fixtures.ts"

const startedAtMillis = 1_767_225_600_000
const projectId = ProjectId.make(randomUUID())

const callWith = (fields: object = {}): ObservedCall => ({
  requestId: RequestId.make(randomUUID()),
  caller: {
    projectId,
    accountId: AccountId.make(randomUUID()),
    keyId: KeyId.make(randomUUID()),
    billingMode: "managed"
  },
  request: Effect.runSync(
    decode({ model: "auto", messages: [{ role: "user", content: "Hello." }], token_doctor: true, ...fields })
  ),
  endpoint: "chat",
  origin: "user",
  startedAtMillis
})

const window = (settings: Partial<CaptureWindow> = {}): CaptureWindow => ({
  ...defaultSettings,
  enabled: true,
  projectId,
  configVersion: 1,
  salt: Buffer.alloc(16),
  openedAt: new Date(startedAtMillis - 1),
  ...settings
})

/** What is waiting after the call, where `known` are the settings that are cached. */
const takenWith = (known: Known | undefined, call: ObservedCall) => {
  const queue = new CaptureQueue({ peek: () => known, lookUp: () => {}, added: () => {} })
  queue.observer.admitted?.(call)
  queue.observer.settled?.(call, record())
  return queue.take(10)
}

it("a call that ends before the settings of its project are known is decided on later, not lost", () => {
  const call = callWith()
  const [taken, ...more] = takenWith(undefined, call)
  expect(more).toEqual([])
  expect(taken).toMatchObject({ call, selected: undefined })
  const later = (known: Known) => selectedLater(known, call, record())
  expect(later(window())?.window.configVersion).toBe(1)
  expect(later(window({ openedAt: new Date(startedAtMillis + 1) }))).toBeUndefined()
  expect(later(window({ samplingRate: 0 }))).toBeUndefined()
  expect(later(window({ enabled: false }))).toBeUndefined()
  expect(later(null)).toBeUndefined()
})

it("a call is taken only where it opts in, may be stored, and its window takes its conversation", () => {
  expect(takenWith(window(), callWith())).toMatchObject([{ selected: { window: { configVersion: 1 } } }])
  // the clock of the node that opened the window may be ahead
  expect(takenWith(window({ openedAt: new Date(startedAtMillis + 1) }), callWith())).toHaveLength(1)
  expect(takenWith(window(), callWith({ token_doctor: false }))).toEqual([])
  expect(takenWith(window({ samplingRate: 0 }), callWith())).toEqual([])
  expect(takenWith(window({ enabled: false }), callWith())).toEqual([])
  expect(takenWith(null, callWith())).toEqual([])
  for (const known of [window(), undefined]) expect(takenWith(known, callWith({ store: false }))).toEqual([])
})
