import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { Answer } from "../domain/Completion.ts"
import { type CallFailure, InsufficientFunds, ServiceRefused } from "../domain/GatewayError.ts"
import { microUsd } from "../domain/Money.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Usage } from "../domain/Usage.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { LedgerShape } from "../ledger/Ledger.ts"
import * as Spans from "../observe/Spans.ts"
import * as Admission from "./Admission.ts"
import { Call, type CallDeps } from "./Call.ts"
import { type EndDeps, end } from "./CallEnd.ts"
import type { RunningAttempt } from "./CallState.ts"
import * as Dispatch from "./Dispatch.ts"
import type { GatewayOptions } from "./GatewayOptions.ts"
import { HoldSlices, type HoldSlicesDeps } from "./HoldSlices.ts"
import { collect, pump, type Sink } from "./Relay.ts"
import type { RunningCalls } from "./RunningCalls.ts"

/** A complete response with its routing metadata. */
export interface Completion extends ResponseStart {
  /** What the model has answered. */
  readonly answer: Answer
  /** As reported, else estimated; what is charged. */
  readonly usage: Usage
  /** `router_metadata` of the response, in the shape of the API. */
  readonly metadata: RouterMetadata
}

/** What every call of a node is made with. */
export interface ProgramDeps extends EndDeps {
  readonly admission: Admission.Admission
  readonly ledger: LedgerShape
  /** With the options of new calls; a call keeps those that it began with. */
  dispatch: Dispatch.DispatchDeps
  /** May change while calls run. */
  readonly options: GatewayOptions
  readonly call: CallDeps
  readonly slices: HoldSlicesDeps
  readonly running: RunningCalls
  /** What `onWaiting` has thrown; its call goes on. */
  readonly waitingFailed: (defect: unknown) => void
}

/** The complete response. `encode` runs before the call is settled: a response that cannot be written is not charged. */
export const complete = <A>(
  deps: ProgramDeps,
  caller: CallerShape,
  request: ChatRequest,
  callOptions: Admission.CallOptions,
  encode: (completion: Completion) => A
): Effect.Effect<A, CallFailure> =>
  run(deps, caller, request.stream ? { ...request, stream: false } : request, callOptions, (call, dispatch) =>
    collected(dispatch, call, encode)
  )

/** The response as it comes, into the sink. Fails only before the first content. */
export const relay = (
  deps: ProgramDeps,
  caller: CallerShape,
  request: ChatRequest,
  callOptions: Admission.CallOptions,
  sink: Sink
): Effect.Effect<void, CallFailure> =>
  run(deps, caller, request.stream ? request : { ...request, stream: true }, callOptions, (call, dispatch) =>
    streamed(deps, dispatch, call, sink)
  )

/**
 * Admitted and held before `use`, settled and released after it, however it ends. Only `use` can be interrupted, and before it the
 * reading of the project's rules. One mask for the whole call costs 2.8 to 3.1 µs, three nested brackets 10 to 15 (measured, Effect 3.22 on Node 20).
 */
const run = <A>(
  deps: ProgramDeps,
  caller: CallerShape,
  request: ChatRequest,
  callOptions: Admission.CallOptions,
  use: (call: Call, dispatch: Dispatch.DispatchDeps) => Effect.Effect<A, CallFailure>
): Effect.Effect<A, CallFailure> =>
  Spans.whenTraced((isTraced) => {
    const dispatch = dispatchOf(deps)
    const settled = Effect.uninterruptibleMask((restore) => {
      const begun = Effect.flatMap(deps.admission.admit(caller, request, callOptions, restore), (admitted) =>
        begin(deps, dispatch, admitted, callOptions, isTraced)
      )
      return Effect.matchCauseEffect(begun, {
        onFailure: (failed) => {
          const cause = deps.running.isAborted ? Cause.map(failed, ofAborted) : failed
          refused(deps, caller, request, callOptions, cause)
          return Effect.failCause(cause)
        },
        onSuccess: (call) =>
          Effect.matchCauseEffect(afterHeld(call, callOptions, restore(use(call, dispatch))), {
            onFailure: (cause) => ended(deps, call, callOptions, Exit.failCause(cause)),
            onSuccess: (value) => ended(deps, call, callOptions, Exit.succeed(value))
          })
      })
    })
    if (!isTraced) return settled
    const { endpoint, requestId } = callOptions
    const attributes = {
      "gateway.request_id": requestId,
      "gateway.endpoint": endpoint,
      "gen_ai.request.model": request.model
    }
    return Spans.span(isTraced, "gateway.call", attributes, settled)
  })

/** The database closes with its node: a call whose admission that ends is told of the shutdown, not of the database. */
const ofAborted = (error: CallFailure): CallFailure =>
  error._tag === "StoreUnavailable" ? new ServiceRefused({ reason: "shutting_down" }) : error

/** What `onHeld` throws is a defect of the call, which then ends like any other. */
const afterHeld = <A, E>(
  call: Call,
  { onHeld }: Admission.CallOptions,
  used: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  onHeld === undefined
    ? used
    : Effect.zipRight(
        Effect.sync(() => onHeld(() => call.abort({ _tag: "Shutdown" }))),
        used
      )

/** Tells the observers of a request that never becomes a call. */
const refused = (
  { call: { observer, timers } }: ProgramDeps,
  caller: CallerShape,
  request: ChatRequest,
  { endpoint, origin = "user", requestId }: Admission.CallOptions,
  cause: Cause.Cause<CallFailure>
): void => {
  const failure = Cause.failureOption(cause)
  if (Option.isNone(failure)) return
  observer.refused({ requestId, caller, request, endpoint, origin, startedAtMillis: timers.now() }, failure.value)
}

/** A new object only when the options have changed. */
const dispatchOf = (deps: ProgramDeps): Dispatch.DispatchDeps => {
  const { deadlines, maxAttempts } = deps.options
  if (deps.dispatch.deadlines !== deadlines || deps.dispatch.maxAttempts !== maxAttempts) {
    deps.dispatch = { ...deps.dispatch, deadlines, maxAttempts }
  }
  return deps.dispatch
}

const begin = (
  deps: ProgramDeps,
  dispatch: Dispatch.DispatchDeps,
  admitted: Admission.Admitted,
  callOptions: Admission.CallOptions,
  isTraced: boolean
): Effect.Effect<Call, CallFailure> => {
  const { caller, holdOptions, release, request, requestId: callId } = admitted
  const reserved = deps.ledger.reserve({
    callId,
    caller,
    requestedModel: request.model,
    options: [holdOptions.first],
    otherOptions: holdOptions.others,
    maxWaitMillis: Math.max(0, Dispatch.endsAtMillis(dispatch, { admitted }) - dispatch.timers.now()),
    onWaiting: guarded(callOptions.onWaiting, deps.waitingFailed)
  })
  return Effect.matchCauseEffect(Spans.span(isTraced, "gateway.ledger.reserve", Spans.noAttributes, reserved), {
    onFailure: (cause) => {
      release()
      return Effect.failCause(Cause.map(cause, (error) => withFittingCap(error, admitted)))
    },
    onSuccess: (hold) => {
      const call = new Call(deps.call, admitted, hold, isTraced)
      deps.running.add(call)
      return Effect.succeed(call)
    }
  })
}

/** The ledger decides on the reservations of many callers where it calls back. */
const guarded = (
  onWaiting: Admission.CallOptions["onWaiting"],
  failed: (defect: unknown) => void
): Admission.CallOptions["onWaiting"] =>
  onWaiting &&
  (() => {
    try {
      onWaiting()
    } catch (defect) {
      failed(defect)
    }
  })

/** Says which output cap would have been let in. */
const withFittingCap = <E>(error: E, { measure, ranked, request }: Admission.Admitted): E | InsufficientFunds => {
  if (!(error instanceof InsufficientFunds) || error.reason !== "too_large") return error
  const { availableMicroUsd } = error
  const amount = microUsd(Math.max(0, availableMicroUsd))
  return new InsufficientFunds({
    ...error,
    fittingOutputTokens: Estimate.fittingOutputTokens(amount, measure, request, Admission.callable(ranked).all())
  })
}

const collected = <A>(
  dispatch: Dispatch.DispatchDeps,
  call: Call,
  encode: (completion: Completion) => A
): Effect.Effect<A, CallFailure> =>
  Effect.map(Dispatch.dispatch(dispatch, call, "end"), ({ value: opened }) => {
    const answer = collect(call, opened)
    const { createdSeconds, model, requestId } = startOf(call, opened.attempt)
    return call.complete(opened.attempt, ({ metadata, usage }) =>
      encode({
        requestId,
        createdSeconds,
        model,
        // a copy takes 4 µs, and is only needed where the provider has not reported its usage
        answer: answer.usage === usage ? answer : { ...answer, usage },
        usage,
        metadata
      })
    )
  })

const streamed = (
  deps: ProgramDeps,
  dispatch: Dispatch.DispatchDeps,
  call: Call,
  sink: Sink
): Effect.Effect<void, CallFailure> =>
  Effect.flatMap(Dispatch.dispatch(dispatch, call, "first-content"), ({ value: opened }) => {
    call.contentReceived()
    sink.begin(startOf(call, opened.attempt))
    const slices = new HoldSlices(deps.slices, call, opened.attempt)
    return Spans.span(
      call.isTraced,
      "gateway.relay",
      Spans.noAttributes,
      pump(call, opened, sink, deps.call.timers, slices)
    )
  })

const ended = <A>(
  deps: ProgramDeps,
  call: Call,
  { keptAnswer }: Admission.CallOptions,
  exit: Exit.Exit<A, CallFailure>
): Effect.Effect<A, CallFailure> => {
  deps.running.remove(call)
  return end(deps, call, exit, keptAnswer)
}

const startOf = ({ admitted }: Call, { candidate }: RunningAttempt): ResponseStart => ({
  requestId: admitted.requestId,
  createdSeconds: Math.floor(admitted.startedAtMillis / 1_000),
  model: candidate.model.id,
  promptTokens: Estimate.likelyTokensWithMedia(admitted.measure, candidate.model.imageTokens)
})
