import * as Either from "effect/Either"
import type { CatalogShape, Snapshot } from "../catalog/Catalog.ts"
import type { RoutedProject } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import { conversationOf } from "../domain/Conversation.ts"
import { InvalidRequest, ModelNotFound, RoutingConfigNotFound } from "../domain/GatewayError.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import * as Estimate from "../ledger/Estimate.ts"
import { type EffectivePolicy, intersectPolicies, noControls } from "../policy/EffectivePolicy.ts"
import { rulesFor } from "../policy/HeldOutPolicy.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../policy/Policy.ts"
import type { Conversations, Place } from "../routing/Conversations.ts"
import type { CostBound } from "../routing/CostBound.ts"
import * as CredentialChoice from "../routing/CredentialChoice.ts"
import { type Exploration, mayExplore } from "../routing/Exploration.ts"
import type { ProjectQuality } from "../routing/evidence/QualitySnapshots.ts"
import type { HealthShape } from "../routing/Health.ts"
import type { Load } from "../routing/Load.ts"
import { isPinned } from "../routing/ModelPool.ts"
import { figuresBy } from "../routing/ModelTable.ts"
import type { RankFailure } from "../routing/NoneEligible.ts"
import { permittedModels } from "../routing/PermittedModels.ts"
import { classify } from "../routing/quality/Classify.ts"
import type { OutputLengthsShape } from "../routing/quality/OutputLengths.ts"
import { qualityFor } from "../routing/quality/QualityTable.ts"
import { featuresOf } from "../routing/RequestFeatures.ts"
import * as Router from "../routing/Router.ts"
import { withHint } from "./NotFoundHints.ts"

/** Why a request is routed to nothing. */
export type RoutingFailure = RankFailure | RoutingConfigNotFound

/** The decision on one request. */
export interface Routed {
  readonly place: Place
  readonly configuration: RoutingConfiguration | null
  readonly allowed: EffectivePolicy
  readonly ranked: Router.Ranked
}

/** What a decision depends on besides the request and its project. */
export interface RoutingDeps {
  readonly catalog: CatalogShape
  readonly health: HealthShape
  readonly conversations: Conversations
  readonly load: Pick<Load, "of">
  readonly outputLengths: Pick<OutputLengthsShape, "expectedFor">
  /** From 0 to 1: which parts of a long prompt are sampled, which of equal routes are compared, and which models are tried. */
  readonly random: () => number
}

/** Those of a project that pays its providers itself; `null` for any other. */
export type Credentials = ReadonlyArray<ProviderCredential> | null

/** What of a project decides about its calls. */
export interface ProjectRules {
  readonly project: ProjectPolicy
  readonly configurations: ReadonlyArray<RoutingConfiguration>
  readonly quality: ProjectQuality
  readonly credentials: Credentials
}

/** The models that its calls are routed among. */
export const snapshotFor = (catalog: CatalogShape, credentials: Credentials): Snapshot =>
  credentials === null ? catalog.snapshot() : catalog.callerSnapshot()

/** A request with what is known of it before it is routed. */
export interface Routable {
  readonly caller: RoutedProject
  readonly request: ChatRequest
  readonly measure: Estimate.PromptEstimate
  readonly startedAtMillis: number
}

/** Where a request would go now; with `explores`, as the project leaves it to chance. */
export const route = (
  { catalog, conversations, health, load, outputLengths, random }: RoutingDeps,
  call: Routable,
  { configurations, credentials, project, quality }: ProjectRules,
  explores: boolean
): Either.Either<Routed, RoutingFailure> => {
  const { caller, measure, request } = call
  return Either.flatMap(resolveConfiguration(request, configurations), (named) => {
    const rules = rulesFor({ project, configuration: named }, () => conversationOf(caller.projectId, request))
    const { configuration } = rules
    const allowed = intersectPolicies(rules.project, configuration, request.routing)
    const credentialOf = credentials === null ? undefined : CredentialChoice.choose(credentials, health)
    const promptTokens = Estimate.likelyPromptTokens(measure)
    const place = conversations.placeOf(caller.projectId, request)
    const pinned = isPinned(request.model)
    // a named model is not chosen: nothing is asked about its prompt
    const classes = pinned ? noClasses : classify(request, promptTokens)
    const ranked = Router.rank({
      snapshot: snapshotFor(catalog, credentials),
      policy: allowed,
      request,
      features: featuresOf(
        request,
        pinned,
        promptTokens,
        classes,
        costBoundOf(request, measure),
        measure.images + measure.files
      ),
      quality: pinned ? ownQuality : qualityFor(classes, quality.graded),
      qualityVersion: quality.version,
      outputTokens: outputLengths.expectedFor(classes),
      affinity: pinned ? undefined : place.affinity,
      load: load.of,
      draw: random(),
      exploration: explores && !pinned ? explorationOf(request, allowed, random) : undefined,
      health: (model) => health.of(model, credentialOf?.(model)?.id, call.startedAtMillis),
      knownIn: credentialOf === undefined ? health.knownIn : undefined,
      nowMillis: call.startedAtMillis,
      billingMode: caller.billingMode,
      credentialOf
    })
    return Either.map(ranked, (ranked) => ({ configuration, allowed, ranked, place }))
  }).pipe(
    Either.mapLeft((failure) =>
      withHint(failure, () => {
        const snapshot = snapshotFor(catalog, credentials)
        const policy = intersectPolicies(project, null, noControls)
        return {
          snapshot,
          policy,
          models: permittedModels(snapshot, policy, caller.billingMode, credentials),
          slugs: configurations.flatMap(({ isActive, slug }) => (isActive ? [slug] : []))
        }
      })
    )
  )
}

const explorationOf = (
  request: ChatRequest,
  allowed: EffectivePolicy,
  random: () => number
): Exploration | undefined =>
  mayExplore(request, allowed) ? { share: allowed.explorationShare, draw: random() } : undefined

const costBoundOf = (
  { routing: { maxCostMicroUsd } }: ChatRequest,
  measure: Estimate.PromptEstimate
): CostBound | undefined =>
  maxCostMicroUsd === undefined
    ? undefined
    : {
        maxMicroUsd: maxCostMicroUsd,
        textTokens: Estimate.textTokensBound(measure),
        imagesAndFiles: Estimate.imagesBound(measure),
        audioTokens: measure.audioTokens
      }

const autoPrefix = "auto:"
const noClasses: ReadonlyArray<number> = []
const ownQuality = figuresBy(({ quality }) => quality)

/** `auto:<slug>` and `routing_config` name the same things; together they have to agree. */
export const resolveConfiguration = (
  request: ChatRequest,
  configurations: ReadonlyArray<RoutingConfiguration>
): Either.Either<RoutingConfiguration | null, ModelNotFound | RoutingConfigNotFound | InvalidRequest> => {
  const named = request.routing.routingConfig
  const active = configurations.filter((configuration) => configuration.isActive)
  const byName =
    named === undefined
      ? null
      : active.find((configuration) => configuration.id === named || configuration.slug === named)
  if (byName === undefined) return Either.left(new RoutingConfigNotFound({ routingConfig: named ?? "" }))
  if (!request.model.startsWith(autoPrefix)) return Either.right(byName)
  const slug = request.model.slice(autoPrefix.length)
  const bySlug = active.find((configuration) => configuration.slug === slug)
  if (bySlug === undefined) return Either.left(new ModelNotFound({ model: request.model }))
  if (byName !== null && byName.id !== bySlug.id) {
    return Either.left(
      new InvalidRequest({
        code: "invalid_value",
        message: `'model' names the routing configuration '${slug}', 'routing_config' another one.`,
        param: "routing_config"
      })
    )
  }
  return Either.right(bySlug)
}
