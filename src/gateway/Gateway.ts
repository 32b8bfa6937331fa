import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Catalog } from "../catalog/Catalog.ts"
import { Caller, type CallerShape } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { CallFailure, InvalidRequest, RateLimited, StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator, nextRequestId } from "../domain/IdGenerator.ts"
import type { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { layerIfValid } from "../domain/OptionIssues.ts"
import type { Timers } from "../domain/Timers.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Policy } from "../policy/Policy.ts"
import type { RateLimits } from "../policy/RateLimits.ts"
import type { RoutingConfigurations } from "../policy/RoutingConfigurations.ts"
import type { Providers } from "../provider/Providers.ts"
import type { Health } from "../routing/Health.ts"
import type { RetryBudget } from "../routing/RetryBudget.ts"
import type { CallerModels, CallOptions } from "./Admission.ts"
import type { Completion } from "./CallProgram.ts"
import { CallRunner, type TokenCount } from "./CallRunner.ts"
import { defaultOptions, type GatewayOptions, issuesOfGatewayOptions } from "./GatewayOptions.ts"
import type { Sink } from "./Relay.ts"
import { invalidNumber } from "./RequestNumbers.ts"
import type { RoutingFailure } from "./RequestRouting.ts"
import * as StreamView from "./StreamView.ts"

/**
 * Makes calls for the `Caller` in the context. Of the options of a call, the gateway fills in what is left out: an id of its own,
 * `embedded` as the endpoint, no id of the client's. A request with a number that no client could send, such as `NaN`, fails with
 * `InvalidRequest`.
 */
export interface GatewayShape {
  /**
   * The complete response of the first candidate that answers, settled. Interruption closes the upstream. While the money is being
   * held it takes effect after that: running calls are waited for at most two seconds, a database that does not respond some seconds
   * more.
   */
  readonly complete: (
    request: ChatRequest,
    options?: Partial<CallOptions>
  ) => Effect.Effect<Completion, CallFailure, Caller>
  /**
   * The same, written by `encode` before the call is settled: what it throws is a defect, and the response is not charged. For
   * programs that send the response on in another form.
   */
  readonly completeWith: <A>(
    request: ChatRequest,
    encode: (completion: Completion) => A,
    options?: Partial<CallOptions>
  ) => Effect.Effect<A, CallFailure, Caller>
  /**
   * Streams the response into a sink. Fails only before the first content, with nothing written; afterwards a failure goes
   * to the sink and the effect succeeds.
   */
  readonly relay: (
    request: ChatRequest,
    sink: Sink,
    options?: Partial<CallOptions>
  ) => Effect.Effect<void, CallFailure, Caller>
  /**
   * The streamed response as a Stream: fails before the first content, or the Stream itself fails. The end of its reader cancels, and so
   * does closing the scope.
   */
  readonly stream: (
    request: ChatRequest,
    options?: Partial<CallOptions>
  ) => Effect.Effect<StreamView.StreamedAnswer, CallFailure, Caller | Scope.Scope>
  /**
   * Fails every running call: the process has to go down. Callers receive the error and are not charged. The end of the Layer does
   * the same.
   */
  readonly abort: Effect.Effect<void>
  /** The models and routing configurations that the caller's key may use. */
  readonly models: Effect.Effect<CallerModels, RateLimited | StoreUnavailable, Caller>
  /** Likely tokens of a request's prompt, at the model that it names. It counts as a request; nothing is charged. */
  readonly countTokens: (
    request: ChatRequest
  ) => Effect.Effect<TokenCount, RoutingFailure | RateLimited | StoreUnavailable, Caller>
}

/**
 * The gateway for programs that run in the same process: admit, hold, attempt with fallback, relay, settle. Every method
 * takes its `Caller` from the context; the HTTP service is a shell around the same program.
 */
export class Gateway extends Context.Tag("gateway/Gateway")<Gateway, GatewayShape>() {
  /** The gateway on what `ProviderLayer`, `PolicyLayer` and `LedgerLayer` provide, ids and a clock. */
  static readonly layer: Layer.Layer<Gateway, never, GatewayNeeds> = Layer.suspend(() =>
    this.layerAndRunner(defaultOptions)
  )

  /** The same with other deadlines, or another number of attempts. Fails with `InvalidConfiguration` where one of these is out of bounds. */
  static readonly layerWith = (options: GatewayOptions): Layer.Layer<Gateway, InvalidConfiguration, GatewayNeeds> =>
    layerIfValid(
      () => issuesOfGatewayOptions(options),
      () => this.layerAndRunner(options)
    )

  /** @internal With the program of a call, which takes its caller as an argument. */
  static readonly layerAndRunner = (options: GatewayOptions): Layer.Layer<Gateway | CallRunner, never, GatewayNeeds> =>
    Layer.provideMerge(
      Layer.effect(
        this,
        Effect.suspend(() => make)
      ),
      CallRunner.layerWith(options)
    )
}

/** What the gateway is built of. */
export type GatewayNeeds =
  | Catalog
  | Health
  | IdGenerator
  | Ledger
  | Policy
  | Providers
  | RateLimits
  | RetryBudget
  | RoutingConfigurations
  | Timers

const make = Effect.gen(function* () {
  const runner = yield* CallRunner
  const ids = yield* IdGenerator
  // made where the effect runs: one that runs again, as in a retry, is another call
  const called = <A, E, R>(
    request: ChatRequest,
    given: Partial<CallOptions> | undefined,
    use: (caller: CallerShape, options: CallOptions) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | InvalidRequest, Caller | R> =>
    checked(request, (caller) =>
      use(caller, {
        ...given,
        requestId: given?.requestId ?? nextRequestId(ids),
        endpoint: given?.endpoint ?? "embedded",
        clientRequestId: given?.clientRequestId ?? null
      })
    )
  return Gateway.of({
    complete: (request, given) =>
      called(request, given, (caller, options) =>
        runner.complete(caller, request, options, (completion) => completion)
      ),
    completeWith: (request, encode, given) =>
      called(request, given, (caller, options) => runner.complete(caller, request, options, encode)),
    relay: (request, sink, given) =>
      called(request, given, (caller, options) => runner.relay(caller, request, sink, options)),
    stream: (request, given) =>
      called(request, given, (caller, options) =>
        StreamView.make((sink) => runner.relay(caller, request, sink, options))
      ),
    abort: runner.abort,
    models: Effect.flatMap(Caller, runner.models),
    countTokens: (request) => checked(request, (caller) => runner.countTokens(caller, request))
  })
})

const checked = <A, E, R>(
  request: ChatRequest,
  use: (caller: CallerShape) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | InvalidRequest, Caller | R> =>
  Effect.flatMap(Caller, (caller): Effect.Effect<A, E | InvalidRequest, R> => {
    const invalid = invalidNumber(request)
    return invalid === undefined ? use(caller) : Effect.fail(invalid)
  })
