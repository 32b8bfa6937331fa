import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallObserver, ObservedCall } from "../../domain/CallObserver.ts"
import { dateAt } from "../../domain/Dates.ts"
import { warn } from "../../domain/FailureLog.ts"
import type { CallFailure, StoreUnavailable } from "../../domain/GatewayError.ts"
import { periodically } from "../../domain/Periodic.ts"
import { storable } from "../../ledger/CallRows.ts"
import * as Metrics from "../../observe/Metrics.ts"
import type { RefusalOut } from "../../wire/account/Refusals.ts"
import { type Refusal, RefusalStore, type RefusalStoreShape } from "./RefusalStore.ts"

/** An error as a client sees it. */
export interface DescribedError {
  readonly status: number
  readonly code: string
  readonly message: string
}

export interface RefusalsShape {
  /** Remembers what is refused with 402, 404 or 429 until it is written. */
  readonly observer: CallObserver
  /** Writes what is remembered. */
  readonly flush: Effect.Effect<void>
}

/**
 * The requests that never became a call. They are written in the background once a second; of more than there is room for, the
 * oldest of a project are lost, so that one project's refusals cost neither memory nor those of the others.
 */
export class Refusals extends Context.Tag("gateway/account/Refusals")<Refusals, RefusalsShape>() {
  /** `describe` is the table of errors. */
  static readonly layer = (
    describe: (error: CallFailure) => DescribedError
  ): Layer.Layer<Refusals, never, RefusalStore> =>
    Layer.scoped(
      this,
      Effect.gen(function* () {
        const queue = new RefusalQueue(yield* RefusalStore, describe)
        yield* Effect.addFinalizer(() => queue.flush)
        yield* periodically(flushInterval, couldNotBeWritten, queue.write)
        return queue
      })
    )
}

const flushInterval = Duration.seconds(1)
const couldNotBeWritten = "refused requests could not be written and are lost"
/** Remembered of one project, and of all, between two writes. */
const maxOfProject = 100
const maxRemembered = 2_000

class RefusalQueue implements RefusalsShape {
  private readonly store: RefusalStoreShape
  private readonly describe: (error: CallFailure) => DescribedError
  private byProject = new Map<string, Array<Refusal>>()
  private remembered = 0

  constructor(store: RefusalStoreShape, describe: (error: CallFailure) => DescribedError) {
    this.store = store
    this.describe = describe
  }

  readonly observer: CallObserver = {
    refused: (call, error) => {
      const described = this.describe(error)
      if (isRefusalStatus(described.status)) this.add(refusalOf(call, error, described, described.status))
    }
  }

  readonly write: Effect.Effect<void, StoreUnavailable> = Effect.suspend(() => {
    const refusals = [...this.byProject.values()].flat()
    if (refusals.length === 0) return Effect.void
    this.byProject = new Map()
    this.remembered = 0
    return Effect.onError(this.store.write(refusals), () =>
      Effect.sync(() => Metrics.refusalsNotListed(refusals.length))
    )
  })

  readonly flush: Effect.Effect<void> = Effect.catchAllCause(this.write, (cause) => warn(couldNotBeWritten, cause))

  private add(refusal: Refusal): void {
    const known = this.byProject.get(refusal.projectId)
    if (known === undefined && this.remembered < maxRemembered) {
      this.byProject.set(refusal.projectId, [refusal])
      this.remembered += 1
      return
    }
    // the newest say most, and a project has to make room for its own
    if (known !== undefined && (known.length >= maxOfProject || this.remembered >= maxRemembered)) {
      known.shift()
      known.push(refusal)
      Metrics.refusalsNotListed(1)
    } else if (known !== undefined) {
      known.push(refusal)
      this.remembered += 1
    } else Metrics.refusalsNotListed(1)
  }
}

const isRefusalStatus = (status: number): status is RefusalOut["status"] =>
  status === 402 || status === 404 || status === 429

const refusalOf = (
  { caller, endpoint, request, requestId, startedAtMillis }: ObservedCall,
  error: CallFailure,
  { code, message }: DescribedError,
  status: RefusalOut["status"]
): Refusal => ({
  id: requestId,
  projectId: caller.projectId,
  key_id: caller.keyId,
  endpoint,
  requested_model: storable(request.model),
  status,
  code,
  message: storable(message),
  ...amountsOf(error),
  refused_at: dateAt(startedAtMillis).toISOString()
})

type Amounts = Omit<
  RefusalOut,
  "id" | "key_id" | "key_name" | "endpoint" | "requested_model" | "status" | "code" | "message" | "refused_at"
>

const noAmounts: Amounts = {
  scope: null,
  reason: null,
  needed_microusd: null,
  remaining_microusd: null,
  held_microusd: null,
  remaining_requests: null,
  remaining_tokens: null,
  retry_after_ms: null
}

const amountsOf = (error: CallFailure): Amounts => {
  switch (error._tag) {
    case "InsufficientFunds":
      return {
        ...noAmounts,
        scope: error.scope,
        reason: error.reason,
        needed_microusd: error.neededMicroUsd,
        remaining_microusd: error.availableMicroUsd,
        held_microusd: error.heldMicroUsd
      }
    case "RateLimited":
      return {
        ...noAmounts,
        scope: error.scope ?? null,
        remaining_requests: error.status?.requests?.remaining ?? null,
        remaining_tokens: error.status?.tokens?.remaining ?? null,
        retry_after_ms: Math.ceil(error.retryAfterMillis)
      }
    default:
      return noAmounts
  }
}
