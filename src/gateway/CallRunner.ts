import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
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
import type { CallFailure, RateLimited, StoreUnavailable } from "../domain/GatewayError.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { RateLimitStatus } from "../domain/RateLimitStatus.ts"
import { Timers } from "../domain/Timers.ts"
import { Ledger } from "../ledger/Ledger.ts"
import * as CallSpans from "../observe/CallSpans.ts"
import * as Defects from "../observe/Defects.ts"
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
import { type Completion, complete, type ProgramDeps, relay } from "./CallProgram.ts"
import type { GatewayOptions } from "./GatewayOptions.ts"
import { observer as healthObserver } from "./HealthObserver.ts"
import type { Sink } from "./Relay.ts"
import type { RoutingFailure } from "./RequestRouting.ts"
import { RunningCalls } from "./RunningCalls.ts"

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
  readonly models: (caller: CallerShape) => Effect.Effect<Admission.CallerModels, RateLimited | StoreUnavailable>
  /** The same for a project, without a request of it: nothing is counted. */
  readonly projectModels: Admission.Admission["projectModels"]
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
  const deps: ProgramDeps = {
    ledger,
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
    slices: { ledger, timers, fork: Runtime.runFork(yield* Effect.runtime<never>()) },
    running: new RunningCalls(),
    waitingFailed: yield* reportOf("onWaiting of a call has thrown")
  }
  // the layers that this one is built on are closed after it: what still runs settles while the ledger can write
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      deps.running.abort()
      return deps.running.settled
    })
  )
  return CallRunner.of({
    complete: (caller, request, callOptions, encode) => complete(deps, caller, request, callOptions, encode),
    relay: (caller, request, sink, callOptions) => relay(deps, caller, request, callOptions, sink),
    abort: Effect.sync(() => deps.running.abort()),
    stop: (requestId) => Effect.sync(() => deps.running.stop(requestId)),
    preview: deps.admission.preview,
    projectModels: deps.admission.projectModels,
    models: (caller) =>
      asRequest(rateLimits, caller, (status) =>
        Effect.map(deps.admission.projectModels(caller), (models) => ({ ...models, rateLimits: status }))
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
  Effect.map(Defects.reporter(message), (report) => (defect) => report(Cause.die(defect)))
