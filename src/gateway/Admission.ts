import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import type { ProjectCredentialsShape } from "../credentials/ProjectCredentials.ts"
import type { CallOrigin, Endpoint } from "../domain/Call.ts"
import type { CallerShape, RoutedProject } from "../domain/Caller.ts"
import type { RequestBytes } from "../domain/CallObserver.ts"
import { type Candidates, candidatesFrom } from "../domain/Candidate.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { CallFailure, StoreUnavailable } from "../domain/GatewayError.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import type { RateLimitStatus } from "../domain/RateLimitStatus.ts"
import type { TimersShape } from "../domain/Timers.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { HoldOption, SealedAnswer } from "../ledger/Ledger.ts"
import { type EffectivePolicy, intersectPolicies, noControls } from "../policy/EffectivePolicy.ts"
import type { PolicyShape, RoutingConfiguration } from "../policy/Policy.ts"
import type { RateLimitsShape, Release } from "../policy/RateLimits.ts"
import type { RoutingConfigurationsShape } from "../policy/RoutingConfigurations.ts"
import type { Place } from "../routing/Conversations.ts"
import * as CredentialChoice from "../routing/CredentialChoice.ts"
import type { QualitySnapshotsShape } from "../routing/evidence/QualitySnapshots.ts"
import { namedModels, permittedModels } from "../routing/PermittedModels.ts"
import type { RouteHealth } from "../routing/RouteHealth.ts"
import type * as Router from "../routing/Router.ts"
import { HoldOptions, smallestOption } from "./HoldOptions.ts"
import {
  type Credentials,
  type ProjectRules,
  type Routed,
  type RoutingDeps,
  type RoutingFailure,
  resolveConfiguration,
  route,
  snapshotFor
} from "./RequestRouting.ts"

/** A call that may run once its money is held: everything that is decided before the first attempt. */
export interface Admitted {
  readonly requestId: RequestId
  readonly caller: CallerShape
  readonly request: ChatRequest
  readonly endpoint: Endpoint
  readonly clientRequestId: string | null
  readonly origin: CallOrigin
  readonly body: RequestBytes | undefined
  readonly startedAtMillis: number
  readonly measure: Estimate.PromptEstimate
  readonly configuration: RoutingConfiguration | null
  readonly allowed: EffectivePolicy
  readonly ranked: Router.Ranked
  readonly place: Place
  /** Of the candidates that may be tried. */
  readonly holdOptions: HoldOptions
  /** Ends the request's share of the concurrency limits. */
  readonly release: Release
}

/** What the surroundings of a call tell about it. */
export interface CallOptions {
  /** Unique; the id of the call and of its hold. A program that runs the call again, as in a retry, is to give it another one. */
  readonly requestId: RequestId
  /** Where the call came in. */
  readonly endpoint: Admitted["endpoint"]
  /** The client's own id, only for the log. */
  readonly clientRequestId: string | null
  /** Who asks for the call; a client, unless it is said. */
  readonly origin?: CallOrigin
  /** The request as it was sent: only of a chat completion that opts into data collection. */
  readonly body?: RequestBytes | undefined
  /** Called once the rate limits have let the request through, with what they leave. */
  readonly onRateLimits?: (status: RateLimitStatus) => void
  /** Called once the money is held, before the first attempt, with what fails this call as `Gateway.abort` fails all. */
  readonly onHeld?: (abort: () => void) => void
  /** Called when the call begins to wait for money that running calls hold. */
  readonly onWaiting?: (() => void) | undefined
  /** Asked at the end of the call, before it is settled: what its settlement keeps for a repetition of the request. */
  readonly keptAnswer?: ((exit: Exit.Exit<unknown, CallFailure>) => SealedAnswer | undefined) | undefined
}

export interface AdmissionDeps extends RoutingDeps {
  readonly policy: PolicyShape
  readonly configurations: RoutingConfigurationsShape
  readonly credentials: ProjectCredentialsShape
  readonly rateLimits: RateLimitsShape
  readonly quality: QualitySnapshotsShape
  readonly timers: TimersShape
}

/** Of `Effect.uninterruptibleMask`. */
type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

export interface Admission {
  /** `restore` is given what may take long and can be interrupted. */
  readonly admit: (
    caller: CallerShape,
    request: ChatRequest,
    options: CallOptions,
    restore: Restore
  ) => Effect.Effect<Admitted, CallFailure>
  /** What a call of this request would be routed to now. Nothing is counted or held. */
  readonly preview: (
    caller: RoutedProject,
    request: ChatRequest
  ) => Effect.Effect<Preview, RoutingFailure | StoreUnavailable>
  /** Likely tokens of a request's prompt with its images and files, whether or not any model takes them. */
  readonly promptTokens: (
    caller: RoutedProject,
    request: ChatRequest
  ) => Effect.Effect<number, RoutingFailure | StoreUnavailable>
  /** What the project may use, for lists of models. */
  readonly projectModels: (caller: RoutedProject) => Effect.Effect<ProjectModels, StoreUnavailable>
}

/** What a key may use, with what is left of its rate limits. */
export interface CallerModels extends ProjectModels {
  /** After this request. */
  readonly rateLimits: RateLimitStatus
}

/** The decision of the router on one request, before any money is held; without what is left to chance. */
export interface Preview extends Routed {
  readonly likelyPromptTokens: number
  /** For the smallest answer of each ranked candidate, in their order; for a byok project what its calls count as. */
  readonly options: Arr.NonEmptyReadonlyArray<HoldOption>
  readonly health: Arr.NonEmptyReadonlyArray<RouteHealth>
}

/** What a project may use. */
export interface ProjectModels {
  /** The models, and what `auto` would choose from. */
  readonly models: ReadonlyArray<Model>
  /** Active ones, also those that could choose nothing today. */
  readonly configurations: ReadonlyArray<{ readonly slug: string; readonly pool: ReadonlyArray<Model> }>
}

export const make = (deps: AdmissionDeps): Admission => ({
  admit: (caller, request, options, restore) => admit(deps, caller, request, options, restore),
  preview: (caller, request) => preview(deps, caller, request),
  promptTokens: (caller, request) => promptTokens(deps, caller, request),
  projectModels: (caller) => projectModels(deps, caller)
})

/** Without generators: they allocate 4 KB a call. */
const admit = (
  deps: AdmissionDeps,
  caller: CallerShape,
  request: ChatRequest,
  { body, clientRequestId, endpoint, onRateLimits, origin = "user", requestId }: CallOptions,
  restore: Restore
): Effect.Effect<Admitted, CallFailure> =>
  Effect.suspend(() => {
    const startedAtMillis = deps.timers.now()
    const measure = Estimate.estimatePrompt(request, deps.random)
    return Effect.flatMap(
      deps.rateLimits.admit(caller, Estimate.likelyPromptTokens(measure)),
      ({ release, status }) => {
        const call = {
          requestId,
          endpoint,
          clientRequestId,
          origin,
          body,
          caller,
          request,
          startedAtMillis,
          measure,
          release
        }
        return Effect.tapErrorCause(
          Effect.suspend(() => {
            onRateLimits?.(status)
            return Effect.flatMap(rulesOf(deps, caller, restore), (rules) => rankCandidates(deps, call, rules))
          }),
          () => Effect.sync(release)
        )
      }
    )
  })

const preview = Effect.fnUntraced(function* (deps: AdmissionDeps, caller: RoutedProject, request: ChatRequest) {
  const measure = Estimate.estimatePrompt(request, deps.random)
  const rules = yield* rulesOf(deps, caller, identity)
  const call = { caller, request, measure, startedAtMillis: deps.timers.now() }
  const routed = yield* route(deps, call, rules, false)
  const candidates = routed.ranked.candidates.all()
  return {
    ...routed,
    likelyPromptTokens: Estimate.likelyPromptTokens(measure),
    options: Arr.map(candidates, (one) => smallestOption(measure, request, one)),
    health: Arr.map(candidates, ({ credential, model }) => deps.health.of(model, credential?.id))
  }
})

const promptTokens = Effect.fnUntraced(function* (deps: AdmissionDeps, caller: RoutedProject, request: ChatRequest) {
  const measure = Estimate.estimatePrompt(request, deps.random)
  const project = yield* deps.policy.ofProject(caller.projectId)
  const configurations = yield* deps.configurations.ofProject(caller.projectId)
  const configuration = yield* resolveConfiguration(request, configurations)
  const allowed = intersectPolicies(project, configuration, request.routing)
  const credentials = yield* credentialsOf(deps, caller)
  const models = yield* namedModels(request, {
    snapshot: snapshotFor(deps.catalog, credentials),
    policy: allowed,
    billingMode: caller.billingMode,
    credentialOf: credentials === null ? undefined : CredentialChoice.choose(credentials, deps.health)
  })
  const imageTokens = models.reduce((most, model) => Math.max(most, model.imageTokens), 0)
  return Estimate.likelyTokensWithMedia(measure, imageTokens)
})

const projectModels = Effect.fnUntraced(function* (deps: AdmissionDeps, caller: RoutedProject) {
  const project = yield* deps.policy.ofProject(caller.projectId)
  const configurations = yield* deps.configurations.ofProject(caller.projectId)
  const credentials = yield* credentialsOf(deps, caller)
  const snapshot = snapshotFor(deps.catalog, credentials)
  const poolOf = (configuration: RoutingConfiguration | null) =>
    permittedModels(snapshot, intersectPolicies(project, configuration, noControls), caller.billingMode, credentials)
  return {
    models: poolOf(null),
    configurations: configurations
      .filter((configuration) => configuration.isActive)
      .map((configuration) => ({ slug: configuration.slug, pool: poolOf(configuration) }))
  }
})

/** What the project says about its calls. Nearly always all of it is in memory: only what is not is left to effects. */
const rulesOf = (
  deps: AdmissionDeps,
  caller: RoutedProject,
  restore: Restore
): Effect.Effect<ProjectRules, StoreUnavailable> => {
  const known = rulesInMemory(deps, caller)
  if (known !== undefined) return Effect.succeed(known)
  const { projectId } = caller
  return restore(
    Effect.all({
      project: deps.policy.ofProject(projectId),
      configurations: deps.configurations.ofProject(projectId),
      quality: deps.quality.ofProject(projectId),
      credentials: credentialsOf(deps, caller)
    })
  )
}

const rulesInMemory = (deps: AdmissionDeps, { billingMode, projectId }: RoutedProject): ProjectRules | undefined => {
  const project = deps.policy.peek?.(projectId)
  const configurations = deps.configurations.peek?.(projectId)
  const quality = deps.quality.peek?.(projectId)
  const credentials = billingMode === "byok" ? deps.credentials.peek?.(projectId) : null
  return project === undefined || configurations === undefined || quality === undefined || credentials === undefined
    ? undefined
    : { project, configurations, quality, credentials }
}

const credentialsOf = (
  { credentials }: AdmissionDeps,
  { billingMode, projectId }: RoutedProject
): Effect.Effect<Credentials, StoreUnavailable> =>
  billingMode === "byok" ? credentials.ofProject(projectId) : Effect.succeed(null)

type Measured = Pick<
  Admitted,
  | "requestId"
  | "endpoint"
  | "clientRequestId"
  | "origin"
  | "body"
  | "caller"
  | "request"
  | "startedAtMillis"
  | "measure"
  | "release"
>

const rankCandidates = (
  deps: AdmissionDeps,
  call: Measured,
  rules: ProjectRules
): Either.Either<Admitted, RoutingFailure> => {
  const { caller, measure, request } = call
  return Either.map(route(deps, call, rules, true), ({ allowed, configuration, place, ranked }) => ({
    // spreading `call` took 4 µs
    requestId: call.requestId,
    endpoint: call.endpoint,
    clientRequestId: call.clientRequestId,
    origin: call.origin,
    body: call.body,
    caller,
    request,
    startedAtMillis: call.startedAtMillis,
    measure,
    release: call.release,
    configuration,
    allowed,
    ranked,
    place,
    holdOptions: new HoldOptions(measure, request, callable(ranked))
  }))
}

/** The candidates that may be tried: without fallback the first one alone, whether it can be paid for or not. */
export const callable = ({ candidates, fallbackEnabled }: Router.Ranked): Candidates =>
  fallbackEnabled ? candidates : candidatesFrom([candidates.first])
