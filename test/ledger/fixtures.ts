import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import { type CallRecord, type CostBasis, cost, noCost } from "../../src/domain/Call.ts"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { AccountId, KeyId, ProjectId, RequestId } from "../../src/domain/Ids.ts"
import { microUsd } from "../../src/domain/Money.ts"
import { usage } from "../../src/domain/Usage.ts"
import type { HoldOption, Reservation, Settlement } from "../../src/ledger/Ledger.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"

export const newCallId = () => RequestId.make(randomUUID())

/** Of tests without a database. */
export const caller = {
  accountId: AccountId.make("00000000-0000-7000-8000-000000000001"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000002"),
  keyId: KeyId.make("00000000-0000-7000-8000-000000000003"),
  billingMode: "managed"
} as const

export interface CallerOptions {
  readonly credit?: number
  readonly project?: number | null
  readonly key?: number | null
  readonly billingMode?: CallerShape["billingMode"]
}

/** A new account with its credit, one project and one key. */
export const newCaller = ({ credit = 1_000_000, project = null, key = null, billingMode = "managed" }: CallerOptions) =>
  Effect.gen(function* () {
    const scopes = yield* Scopes
    const caller: CallerShape = {
      accountId: AccountId.make(randomUUID()),
      projectId: ProjectId.make(randomUUID()),
      keyId: KeyId.make(randomUUID()),
      billingMode
    }
    yield* scopes.open("account", caller.accountId, null)
    yield* scopes.open("project", caller.projectId, project)
    yield* scopes.open("key", caller.keyId, key)
    if (credit > 0) yield* scopes.credit(caller.accountId, credit, "opening")
    return caller
  })

/** Another key of the same project. */
export const newKey = (caller: CallerShape, limit: number | null) =>
  Effect.gen(function* () {
    const keyId = KeyId.make(randomUUID())
    yield* (yield* Scopes).open("key", keyId, limit)
    return { ...caller, keyId }
  })

export const option = (full: number, least = full, typical: number | null = null): HoldOption => ({
  max: microUsd(full),
  min: microUsd(least),
  typical: typical === null ? null : microUsd(typical)
})

export const wants = (caller: CallerShape, ...options: [HoldOption, ...Array<HoldOption>]): Reservation => ({
  callId: newCallId(),
  caller,
  requestedModel: "auto",
  options,
  maxWaitMillis: 0
})

/** The same with only the first option at hand: the others are computed where it is refused. */
export const wantsFirst = (
  caller: CallerShape,
  first: HoldOption,
  ...others: ReadonlyArray<HoldOption>
): Reservation => ({
  ...wants(caller, first),
  otherOptions: () => others
})

export const record = (parts: Partial<CallRecord> = {}): CallRecord => ({
  requestedModel: "auto",
  model: "sim/large",
  provider: "sim",
  endpoint: "chat",
  stream: true,
  tokenDoctor: false,
  status: "success",
  error: null,
  cost: cost(0, "charged"),
  usage: usage({ inputTokens: 10, outputTokens: 20 }),
  prices: null,
  latencyMillis: 12.5,
  firstContentMillis: 3.25,
  routingConfig: null,
  reason: "quality_cost_tradeoff",
  policyVersion: 1,
  pool: { models: ["sim/large", "sim/small"] },
  attempts: [
    {
      provider: "sim",
      model: "sim/large",
      status: "success",
      error: null,
      cost: cost(0, "charged"),
      latency_ms: 12.5
    }
  ],
  failedUsage: [],
  attemptUses: [
    {
      startedAtMillis: 1_767_225_600_124,
      usage: usage({ inputTokens: 10, outputTokens: 20 }),
      isReported: true,
      dropped: []
    }
  ],
  alpha: null,
  excluded: {},
  baseline: null,
  features: null,
  conversation: "00112233445566778899aabbccddeeff",
  origin: "user",
  clientRequestId: null,
  startedAtMillis: 1_767_225_600_123,
  ...parts
})

const charging = (charged: number, basis: CostBasis): Pick<CallRecord, "cost" | "attempts"> => {
  const attempts = record().attempts.map((attempt) => ({ ...attempt, cost: cost(charged, basis) }))
  return { cost: cost(charged, basis), attempts }
}

/** `charged` is what the customer pays where the hold does not cover the cost. */
export const settled = (actual: number, parts: Partial<CallRecord> = {}, charged = actual): Settlement => ({
  state: "settled",
  actual: microUsd(actual),
  record: record({ ...charging(charged, "charged"), ...parts })
})

export const cancelled = (actual: number): Settlement => ({
  state: "cancelled",
  actual: microUsd(actual),
  record: record({ ...charging(actual, "estimated"), status: "cancelled" })
})

export const voided: Settlement = {
  state: "void",
  actual: microUsd(0),
  record: record({ status: "error", error: { code: "all_providers_failed", message: null }, cost: noCost, usage: null })
}
