import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect } from "vitest"
import { ProjectSamples } from "../../../src/account/capture/ProjectSamples.ts"
import { Audit } from "../../../src/audit/Audit.ts"
import { Capture } from "../../../src/capture/Capture.ts"
import { Captured } from "../../../src/capture/Captured.ts"
import { CaptureKeys } from "../../../src/capture/CaptureKeys.ts"
import { CaptureStore } from "../../../src/capture/CaptureStore.ts"
import { CaptureErasure } from "../../../src/capture/Erasure.ts"
import { NotFound } from "../../../src/domain/AccountError.ts"
import { CurrentUser } from "../../../src/domain/CurrentUser.ts"
import { AccountId, ProjectId, RequestId, SessionId, UserId } from "../../../src/domain/Ids.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { ProjectAccess } from "../../../src/identity/projects/ProjectAccess.ts"
import { AccountTransactions } from "../../../src/sql/AccountDatabase.ts"
import { fromSql } from "../../../src/sql/StoreErrors.ts"

const idOf = (at: number) => `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`
const project = {
  id: ProjectId.make(idOf(1)),
  accountId: AccountId.make(idOf(2)),
  name: "project",
  isDefault: false,
  billingMode: "managed",
  policyVersion: 1,
  managedByConfiguration: false,
  rateLimits: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  role: "member"
} as const
const user = {
  userId: UserId.make(idOf(3)),
  accountId: AccountId.make(idOf(4)),
  isOperator: false,
  sessionId: SessionId.make(idOf(5)),
  transport: "bearer",
  address: "127.0.0.1",
  requestId: RequestId.make(idOf(6))
} as const

it.effect("an erasure that has waited for what is being written erases nothing for who is no member any more", () => {
  let isMember = true
  const erased: Array<string> = []
  const recorded: Array<string> = []
  const samples = ProjectSamples.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(AccountTransactions, { commit: (write) => fromSql(write(() => Effect.void)) }),
        Layer.mock(Audit, { record: ({ action }) => Effect.sync(() => void recorded.push(action)) }),
        Layer.mock(Capture, {
          observer: {},
          flushed: Effect.sync(() => {
            isMember = false
          })
        }),
        Layer.mock(Captured, {}),
        Layer.mock(CaptureErasure, { erase: (id) => Effect.sync(() => erased.push(id)) }),
        Layer.mock(CaptureKeys, { isAvailable: true }),
        Layer.mock(CaptureStore, {}),
        Layer.mock(ProjectAccess, {
          require: () => Effect.suspend(() => (isMember ? Effect.succeed(project) : new NotFound({ message: "none" })))
        }),
        Timers.layer
      )
    )
  )
  return Effect.gen(function* () {
    const { erase } = yield* ProjectSamples
    const error = yield* Effect.flip(erase(project.id, { _tag: "Project" }))
    expect(error._tag).toBe("NotFound")
    expect([erased, recorded]).toEqual([[], []])
  }).pipe(Effect.provide(samples), Effect.provideService(CurrentUser, user))
})
