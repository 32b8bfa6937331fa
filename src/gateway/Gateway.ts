import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Utils from "effect/Utils"
import { Catalog } from "../catalog/Catalog.ts"
import { Caller, type CallerShape } from "../domain/Caller.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { Answer } from "../domain/Completion.ts"
import type { CallFailure, RateLimited, StoreUnavailable } from "../domain/GatewayError.ts"
import { Ids, nextRequestId } from "../domain/Ids.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import { Timers } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import { type Hold, Ledger } from "../ledger/Ledger.ts"
import { Policy } from "../policy/Policy.ts"
import { RateLimits } from "../policy/RateLimits.ts"
import { Providers } from "../provider/Providers.ts"
import { Configurations } from "../routing/Configurations.ts"
import { Health } from "../routing/Health.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import * as Admission from "./Admission.ts"
import * as Attempt from "./Attempt.ts"
import { type Deadlines, defaultDeadlines } from "./Deadlines.ts"
import { Meter } from "./Meter.ts"
import * as Outcomes from "./Outcomes.ts"
import { type AnswerStart, pump, type Sink } from "./Relay.ts"
import { Slot } from "./Slot.ts"
import * as StreamView from "./StreamView.ts"
import * as Trial from "./Trial.ts"

/** A whole answer and how it came about. */
export interface Completion extends AnswerStart {
  readonly answer: Answer
  readonly usage: Usage
  readonly metadata: RouterMetadata
}

export interface GatewayOptions {
  readonly deadlines: Deadlines
  /** Candidates that one call may try. */
  readonly maxAttempts: number
}

export const defaultOptions: GatewayOptions = { deadlines: defaultDeadlines, maxAttempts: 4 }

export interface GatewayShape {
  /** Runs a plain call: the best candidate that answers, settled. Interrupting it closes the upstream. */
  readonly complete: (
    request: ChatRequest,
    options?: Admission.CallOptions
  ) => Effect.Effect<Completion, CallFailure, Caller>
  /**
   * Runs a streamed call into a sink. Fails only before the first content, with nothing written; afterwards a failure is
   * told to the sink and this succeeds.
   */
  readonly relay: (
    request: ChatRequest,
    sink: Sink,
    options?: Admission.CallOptions
  ) => Effect.Effect<void, CallFailure, Caller>
  /**
   * `complete` and `relay` for a caller that is at hand: providing a service costs more than admission does. `encode` runs
   * before the call is settled: an answer that cannot be written is not charged.
   */
  readonly completeFor: <A>(
    caller: CallerShape,
    request: ChatRequest,
    options: Admission.CallOptions,
    encode: (completion: Completion) => A
  ) => Effect.Effect<A, CallFailure>
  readonly relayFor: (
    caller: CallerShape,
    request: ChatRequest,
    sink: Sink,
    options: Admission.CallOptions
  ) => Effect.Effect<void, CallFailure>
  /** A streamed call as a Stream: fails before the first content, or the stream itself fails; leaving the scope cancels. */
  readonly stream: (request: ChatRequest) => Effect.Effect<StreamView.StreamedAnswer, CallFailure, Caller | Scope.Scope>
  /** Fails every running call: this node has to go down. Their clients are told, their customers pay nothing. */
  readonly abort: Effect.Effect<void>
  /** The models and routing configurations that the caller's key may use. */
  readonly models: Effect.Effect<Admission.Listable, RateLimited | StoreUnavailable, Caller>
}

/**
 * The program itself: admit, hold, attempt with fallback, relay, settle. It needs a Caller and the Layers below it; HTTP is
 * a shell around it.
 */
export class Gateway extends Context.Tag("gateway/Gateway")<Gateway, GatewayShape>() {
  static readonly layer = (
    options: GatewayOptions = defaultOptions
  ): Layer.Layer<
    Gateway,
    never,
    Catalog | Configurations | Health | Ids | Ledger | Policy | Providers | RateLimits | RetryBudget | Timers
  > => Layer.effect(this, make(options))
}

/** A failure of ours, whose call costs its customer nothing. */
const defect = {
  _tag: "Failed",
  status: "error",
  error: { code: "internal_error", message: "The gateway failed unexpectedly." }
} as const

/** What one running call is made of. */
interface Call {
  readonly meter: Meter
  readonly slot: Slot
}

const make = Effect.fnUntraced(function* (options: GatewayOptions) {
  const ledger = yield* Ledger
  const providers = yield* Providers
  const health = yield* Health
  const timers = yield* Timers
  const ids = yield* Ids
  const rateLimits = yield* RateLimits
  const admission = Admission.make({
    catalog: yield* Catalog,
    policy: yield* Policy,
    configurations: yield* Configurations,
    rateLimits,
    health,
    timers
  })
  const fresh = (): Admission.CallOptions => ({
    requestId: nextRequestId(ids),
    endpoint: "embedded",
    clientRequestId: null
  })

  const trial = Trial.make({
    ledger,
    health,
    retryBudget: yield* RetryBudget,
    timers,
    random: new Utils.PCGRandom(yield* Random.nextInt),
    deadlines: options.deadlines,
    maxAttempts: options.maxAttempts
  })
  const slots = new Set<Slot>()
  let aborted = false

  /**
   * Admitted and held before `use`, settled and released after it, however it ends. Only `use` can be interrupted; one
   * mask for the whole call costs a fraction of nested brackets.
   */
  const running = <A>(
    caller: CallerShape,
    request: ChatRequest,
    callOptions: Admission.CallOptions,
    use: (admitted: Admission.Admitted, call: Call) => Effect.Effect<A, CallFailure>
  ): Effect.Effect<A, CallFailure> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(admission.admit(caller, request, callOptions), (admitted) =>
        Effect.matchCauseEffect(hold(admitted), {
          onFailure: (cause) => {
            admitted.release()
            return Effect.failCause(cause)
          },
          onSuccess: (held) => {
            callOptions.onHeld?.()
            const call = begun(admitted, held)
            const used = restore(Effect.suspend(() => use(admitted, call)))
            return Effect.matchCauseEffect(used, {
              onFailure: (cause) => ended(call, Exit.failCause(cause)),
              onSuccess: (value) => ended(call, Exit.succeed(value))
            })
          }
        })
      )
    )

  const hold = ({
    caller,
    options,
    request,
    requestId: callId
  }: Admission.Admitted): Effect.Effect<Hold, CallFailure> =>
    ledger.reserve({ callId, caller, requestedModel: request.model, options })

  const begun = (admitted: Admission.Admitted, held: Hold): Call => {
    const slot = new Slot()
    // it was still being admitted when all others were told
    if (aborted) slot.abort({ _tag: "Shutdown" })
    slots.add(slot)
    return { meter: new Meter(admitted, held, timers.now), slot }
  }

  const ended = <A>({ meter, slot }: Call, exit: Exit.Exit<A, CallFailure>): Effect.Effect<A, CallFailure> => {
    slots.delete(slot)
    slot.close()
    meter.admitted.release()
    if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) meter.end(defect)
    const settlement = meter.settlement()
    Outcomes.record(settlement.record)
    return Effect.zipRight(ledger.settle(meter.hold, settlement), exit)
  }

  const complete = <A>(
    caller: CallerShape,
    request: ChatRequest,
    callOptions: Admission.CallOptions,
    encode: (completion: Completion) => A
  ): Effect.Effect<A, CallFailure> =>
    running(caller, request.stream ? { ...request, stream: false } : request, callOptions, (admitted, call) =>
      Effect.map(
        trial.firstOf(call.meter, (attempt) => Attempt.answer(providers, timers, call.slot, attempt)),
        ({ candidate, value: answer }) => {
          call.meter.answered(answer)
          const metadata = call.meter.complete()
          const usage = call.meter.usageOrEstimate
          const encoded = encode({ ...startOf(admitted, candidate), answer: { ...answer, usage }, usage, metadata })
          call.meter.end({ _tag: "Complete" })
          health.succeeded(candidate.model, metadata.attempts.at(-1)?.latency_ms ?? 0)
          return encoded
        }
      )
    )

  const relay = (
    caller: CallerShape,
    request: ChatRequest,
    sink: Sink,
    callOptions: Admission.CallOptions
  ): Effect.Effect<void, CallFailure> =>
    running(caller, request.stream ? request : { ...request, stream: true }, callOptions, (admitted, call) =>
      Effect.flatMap(
        trial.firstOf(call.meter, (attempt) => Attempt.open(providers, timers, call.slot, attempt)),
        ({ candidate, value: opened }) => {
          call.meter.committed()
          sink.begin(startOf(admitted, candidate))
          return Effect.map(pump(opened, sink, { ...call, timers }), (error) => {
            if (error === undefined) health.succeeded(candidate.model, call.meter.firstContentMillis)
            else health.failed(candidate.model, error)
          })
        }
      )
    )

  const startOf = (admitted: Admission.Admitted, candidate: Candidate): AnswerStart => ({
    requestId: admitted.requestId,
    createdSeconds: Math.floor(admitted.startedAtMillis / 1_000),
    model: candidate.model.id
  })

  const shape: GatewayShape = {
    completeFor: complete,
    relayFor: relay,
    complete: (request, callOptions = fresh()) =>
      Effect.flatMap(Caller, (caller) => complete(caller, request, callOptions, (completion) => completion)),
    relay: (request, sink, callOptions = fresh()) =>
      Effect.flatMap(Caller, (caller) => relay(caller, request, sink, callOptions)),
    stream: (request) =>
      Effect.flatMap(Caller, (caller) => StreamView.make((sink) => relay(caller, request, sink, fresh()))),
    abort: Effect.sync(() => {
      aborted = true
      for (const slot of slots) slot.abort({ _tag: "Shutdown" })
    }),
    models: Effect.flatMap(Caller, (caller) =>
      Effect.acquireUseRelease(
        rateLimits.admit(caller, 0),
        () => admission.listable(caller),
        (release) => Effect.sync(release)
      )
    )
  }
  return shape
})
