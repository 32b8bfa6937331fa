import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import { type CaptureWindow, defaultSettings } from "../../src/capture/CaptureWindow.ts"
import type { ObservedCall } from "../../src/domain/CallObserver.ts"
import { AccountId, KeyId, ProjectId, RequestId } from "../../src/domain/Ids.ts"
import { decode } from "../../src/wire/chat/ChatRequest.ts"

export const startedAtMillis = 1_767_225_600_000
const projectId = ProjectId.make(randomUUID())

/** A call that opts in, with these fields in its request. */
export const observedCall = (fields: object = {}): ObservedCall => ({
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

/** A window of the call's project, open since just before the call. */
export const openWindow = (settings: Partial<CaptureWindow> = {}): CaptureWindow => ({
  ...defaultSettings,
  enabled: true,
  projectId,
  configVersion: 1,
  salt: Buffer.alloc(16),
  openedAt: new Date(startedAtMillis - 1),
  ...settings
})
