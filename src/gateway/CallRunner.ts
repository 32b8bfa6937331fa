import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Runtime from "effect/Runtime"
import * as Utils from "effect/Utils"
import { Catalog } from "../catalog/Catalog.ts"
import { ProjectCredentials } from "../credentials/ProjectCredentials.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { CallObservers, combine } from "../domain/CallObserver.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { Answer } from "../domain/Completion.ts"
import { type CallFailure, InsufficientFunds, type RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { RequestId } from "../domain/Ids.ts"
import { microUsd } from "../domain/Money.ts"
import type { RateLimitStatus } from "../domain/RateLimitStatus.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import { Timers } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import * as Estimate from "../ledger/Estimate.ts"
import { Ledger, type LedgerShape } from "../ledger/Ledger.ts"
import * as CallSpans from "../observe/CallSpans.ts"
import * as Metrics from "../observe/Metrics.ts"
import * as Spans from "../observe/Spans.ts"
import { Policy } from "../policy/Policy.ts"
import { RateLimits, type RateLimitsShape } from "../policy/RateLimits.ts"
import { RoutingConfigurations } from "../policy/RoutingConfigurations.ts"
import { Providers } from "../provider/Providers.ts"
import * as Conversations from "../routing/Conversations.ts"
import { QualitySnapshots } from "../routing/evidence/QualitySnapshots.ts"
import { Health } from "../routing/Health.ts"
import { Load } from "../routing/Load.ts"
import * as OutputLengths from "../routing/quality/OutputLengths.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import * as Admission from "./Admission.ts"
import { Call, type CallDeps } from "./Call.ts"
import { type EndDeps, end } from "./CallEnd.ts"
import type { RunningAttempt } from "./CallState.ts"
import { type Deadlines, defaultDeadlines } from "./Deadlines.ts"
import * as Dispatch from "./Dispatch.ts"
import { observer as healthObserver } from "./HealthObserver.ts"
import { HoldSlices, type HoldSlicesDeps } from "./HoldSlices.ts"
import { collect, pump, type Sink } from "./Relay.ts"
import type { RoutingFailure } from "./RequestRouting.ts"
import { RunningCalls } from "./RunningCalls.ts"

/** A complete response with its routing metadata. */
export interface Completion extends ResponseStart {
  /** What the model has answered. */
  readonly answer: Answer
  /** As reported, else estimated; what is charged. */
  readonly usage: Usage
  /** `router_metadata` of the response, in the shape of the API. */
  readonly metadata: RouterMetadata
}

/** How long providers may take, and how many may be tried. */
export interface GatewayOptions {
  /** Of an attempt and of the whole call. */
  readonly deadlines: Deadlines
  /** Candidates that one call may try. */
  readonly maxAttempts: number
}

/** The options of the service: four attempts, and its deadlines. */
export const defaultOptions: GatewayOptions = { deadlines: defaultDeadlines, maxAttempts: 4 }

/**
 * The program of a call, with its caller as an argument: providing a service to every request costs more than its
 * admission does. `Gateway` is the same program with the caller from the context.
 */
export interface CallRunnerShape {
  /** `encode` runs before the call is settled: a response that cannot be written is not charged. */
  readonly complete: <A>(
    caller: CallerShape,
    request: ChatRequest,
    options: Admission.CallOptions,
    encode: (completion: Completion) => A
  ) => Effect.Effect<A, CallFailure>
  readonly relay: (
    caller: CallerShape,
    request: ChatRequest,
    sink: Sink,
    options: Admission.CallOptions
  ) => Effect.Effect<void, CallFailure>
  /** Fails every running call: the node has to go down. Clients receive the error, customers are not charged. */
  readonly abort: Effect.Effect<void>
  /**
   * Ends a call that runs on this node: its client receives the error `call_stopped`, and it is charged as if its client had
   * left. Nothing happens for a call that runs elsewhere or has ended.
   */
  readonly stop: (requestId: RequestId) => Effect.Effect<void>
  /** What a call of this request would be routed to now. Nothing is counted or held. */
  readonly preview: Admission.Admission["preview"]
  readonly models: (caller: CallerShape) => Effect.Effect<Admission.Listable, RateLimited | StoreUnavailable>
  /** The same for a project, without a request of it: nothing is counted. */
  readonly listable: Admission.Admission["listable"]
  /** Likely tokens of a request's prompt, at the model that it names. It counts as a request, but as no tokens. */
  readonly countTokens: (
    caller: CallerShape,
    request: ChatRequest
  ) => Effect.Effect<TokenCount, RoutingFailure | RateLimited | StoreUnavailable>
}

/** How long the prompt of a request is. */
export interface TokenCount {
  /** Likely tokens of the prompt. */
  readonly tokens: number
  /** What is left of the caller's limits, after this request. */
  readonly rateLimits: RateLimitStatus
}

/** Admit, hold, attempt with fallback, relay, settle. */
export class CallRunner extends Context.Tag("gateway/gateway/CallRunner")<CallRunner, CallRunnerShape>() {
  static readonly layerWith = (
    options: GatewayOptions
  ): Layer.Layer<
    CallRunner,
    never,
    Catalog | RoutingConfigurations | Health | Ledger | Policy | Providers | RateLimits | RetryBudget | Timers
  > => Layer.scoped(this, make(options))
}

interface RunnerDeps extends EndDeps {
  readonly admission: Admission.Admission
  readonly ledger: LedgerShape
  /** With the options of new calls; a call keeps those that it began with. */
  dispatch: Dispatch.DispatchDeps
  /** May change while calls run. */
  readonly options: GatewayOptions
  readonly call: CallDeps
  readonly slices: HoldSlicesDeps
  readonly rateLimits: RateLimitsShape
  readonly running: RunningCalls
}

const make = Effect.fnUntraced(function* (options: GatewayOptions) {
  const ledger = yield* Ledger
  const health = yield* Health
  const timers = yield* Timers
  const rateLimits = yield* RateLimits
  const load = new Load()
  const conversations = Conversations.make(timers)
  const outputLengths = Option.getOrElse(yield* Effect.serviceOption(OutputLengths.OutputLengths), OutputLengths.make)
  const random = new Utils.PCGRandom(yield* Random.nextInt)
  const spans = CallSpans.make(timers)
  const observers = [healthObserver(health, load), spans.observer, ...(yield* CallObservers)]
  const deps: RunnerDeps = {
    ledger,
    rateLimits,
    conversations,
    outputLengths,
    admission: Admission.make({
      catalog: yield* Catalog,
      policy: yield* Policy,
      configurations: yield* RoutingConfigurations,
      credentials: yield* ProjectCredentials,
      quality: yield* QualitySnapshots,
      rateLimits,
      health,
      conversations,
      load,
      outputLengths,
      timers,
      random: () => random.number()
    }),
    dispatch: {
      ledger,
      health,
      timers,
      providers: yield* Providers,
      retryBudget: yield* RetryBudget,
      spans,
      closeFailed: yield* reportOf("a provider has thrown as its call was closed"),
      deadlines: options.deadlines,
      maxAttempts: options.maxAttempts
    },
    options,
    call: { timers, observer: combine(observers, yield* reportOf("a call observer has thrown")) },
    slices: { ledger, fork: Runtime.runFork(yield* Effect.runtime<never>()) },
    running: new RunningCalls()
  }
  // the layers that this one is built on are closed after it: what still runs settles while the ledger can write
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      deps.running.abort()
      return deps.running.settled
    })
  )
  return CallRunner.of({
    complete: (caller, request, callOptions, encode) =>
      run(deps, caller, request.stream ? { ...request, stream: false } : request, callOptions, (call, dispatch) =>
        complete(dispatch, call, encode)
      ),
    relay: (caller, request, sink, callOptions) =>
      run(deps, caller, request.stream ? request : { ...request, stream: true }, callOptions, (call, dispatch) =>
        relay(deps, dispatch, call, sink)
      ),
    abort: Effect.sync(() => deps.running.abort()),
    stop: (requestId) => Effect.sync(() => deps.running.stop(requestId)),
    preview: deps.admission.preview,
    listable: deps.admission.listable,
    models: (caller) =>
      asRequest(rateLimits, caller, (status) =>
        Effect.map(deps.admission.listable(caller), (listable) => ({ ...listable, rateLimits: status }))
      ),
    countTokens: (caller, request) =>
      asRequest(rateLimits, caller, (status) =>
        Effect.map(deps.admission.promptTokens(caller, request), (tokens) => ({ tokens, rateLimits: status }))
      )
  })
})

/** What is no call, but counts as a request of its caller while it runs. */
const asRequest = <A, E>(
  rateLimits: RateLimitsShape,
  caller: CallerShape,
  use: (status: RateLimitStatus) => Effect.Effect<A, E>
): Effect.Effect<A, E | RateLimited | StoreUnavailable> =>
  Effect.acquireUseRelease(
    rateLimits.admit(caller, 0),
    ({ status }) => use(status),
    ({ release }) => Effect.sync(release)
  )

/** For what is not part of the call: what it throws is logged and counted as a defect. */
const reportOf = (message: string): Effect.Effect<(defect: unknown) => void> =>
  Effect.map(Effect.runtime<never>(), (runtime) => (defect) => {
    Metrics.defect()
    Runtime.runFork(runtime)(Effect.logError(message, Cause.die(defect)))
  })

/**
 * Admitted and held before `use`, settled and released after it, however it ends. Only `use` can be interrupted. One mask
 * for the whole call costs 2.8 to 3.1 µs, three nested brackets 10 to 15 (measured, Effect 3.22 on Node 20).
 */
const run = <A>(
  deps: RunnerDeps,
  caller: CallerShape,
  request: ChatRequest,
  callOptions: Admission.CallOptions,
  use: (call: Call, dispatch: Dispatch.DispatchDeps) => Effect.Effect<A, CallFailure>
): Effect.Effect<A, CallFailure> =>
  Spans.whenTraced((isTraced) => {
    const dispatch = dispatchOf(deps)
    const begun = Effect.flatMap(deps.admission.admit(caller, request, callOptions), (admitted) =>
      begin(deps, dispatch, admitted, callOptions, isTraced)
    )
    const settled = Effect.uninterruptibleMask((restore) =>
      Effect.matchCauseEffect(begun, {
        onFailure: (cause) => {
          refused(deps, caller, request, callOptions, cause)
          return Effect.failCause(cause)
        },
        onSuccess: (call) =>
          Effect.matchCauseEffect(restore(use(call, dispatch)), {
            onFailure: (cause) => ended(deps, call, callOptions, Exit.failCause(cause)),
            onSuccess: (value) => ended(deps, call, callOptions, Exit.succeed(value))
          })
      })
    )
    if (!isTraced) return settled
    const { endpoint, requestId } = callOptions
    const attributes = {
      "gateway.request_id": requestId,
      "gateway.endpoint": endpoint,
      "gen_ai.request.model": request.model
    }
    return Spans.span(isTraced, "gateway.call", attributes, settled)
  })

/** Tells the observers of a request that never becomes a call. */
const refused = (
  { call: { observer, timers } }: RunnerDeps,
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
const dispatchOf = (deps: RunnerDeps): Dispatch.DispatchDeps => {
  const { deadlines, maxAttempts } = deps.options
  if (deps.dispatch.deadlines !== deadlines || deps.dispatch.maxAttempts !== maxAttempts) {
    deps.dispatch = { ...deps.dispatch, deadlines, maxAttempts }
  }
  return deps.dispatch
}

const begin = (
  deps: RunnerDeps,
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
    onWaiting: callOptions.onWaiting
  })
  return Effect.matchCauseEffect(Spans.span(isTraced, "gateway.ledger.reserve", Spans.noAttributes, reserved), {
    onFailure: (cause) => {
      release()
      return Effect.failCause(Cause.map(cause, (error) => withFittingCap(error, admitted)))
    },
    onSuccess: (hold) => {
      callOptions.onHeld?.()
      const call = new Call(deps.call, admitted, hold, isTraced)
      deps.running.add(call)
      return Effect.succeed(call)
    }
  })
}

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

const complete = <A>(
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

const relay = (
  deps: RunnerDeps,
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
  deps: RunnerDeps,
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
  model: candidate.model.id
})
