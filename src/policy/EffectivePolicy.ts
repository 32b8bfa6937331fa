import type { Restriction, RoutingControls, RoutingRestrictions } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { listOf, type PriceTerms, plainTerms, ratesFor } from "../domain/Prices.ts"
import type { ProjectPolicy, RoutingConfiguration } from "./Policy.ts"

/** Why a call may not use a model; the keys of `excluded`. */
export type Exclusion =
  | "project_policy"
  | "project_price_cap"
  | "routing_config"
  | "routing_config_price_cap"
  | "request_restriction"
  | "request_price_cap"

/** The models that one call may use: the intersection of project, routing configuration and request. */
export interface EffectivePolicy {
  /** Project first, so that its exclusion is the one reported. */
  readonly layers: ReadonlyArray<CompiledRestrictions>
  /** 0 is cheapest, 1 is best. */
  readonly alpha: number
  readonly fallbackEnabled: boolean
  /** Of the calls, in which chance decides between models that are near each other; 0 to 1. */
  readonly explorationShare: number
  /** Slug of the routing configuration that is used. */
  readonly routingConfig: string | null
  readonly policyVersion: number
}

interface CompiledRestrictions {
  /** Of a policy or a routing configuration, which many calls share; `null`: of one request. */
  readonly serial: number | null
  readonly models: CompiledRestriction
  readonly providers: CompiledRestriction
  readonly maxInputPriceMicroUsdPerMillion: number
  readonly maxOutputPriceMicroUsdPerMillion: number
  readonly capped: boolean
  readonly restricted: Exclusion
  readonly overPriceCap: Exclusion
}

interface CompiledRestriction {
  /** `null` allows everything. */
  readonly allow: Patterns | null
  readonly deny: Patterns | null
}

interface Patterns {
  readonly everything: boolean
  readonly exact: ReadonlySet<string>
  /** Without their `/*`. */
  readonly prefixes: ReadonlySet<string>
}

/** Of calls for which neither request nor project say one. */
export const defaultAlpha = 0.65

/** Of a request that restricts nothing. */
export const noControls: RoutingControls = {
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  routingConfig: undefined,
  alpha: undefined,
  maxInputPriceMicroUsdPerMillion: undefined,
  maxOutputPriceMicroUsdPerMillion: undefined,
  enableFallback: undefined
}

export const intersectPolicies = (
  project: ProjectPolicy,
  configuration: RoutingConfiguration | null,
  routing: Omit<RoutingControls, "routingConfig" | "maxCostMicroUsd">
): EffectivePolicy => {
  const layers: Array<CompiledRestrictions> = []
  add(layers, compiledOnce(project, "project_policy", "project_price_cap"))
  if (configuration !== null) add(layers, compiledOnce(configuration, "routing_config", "routing_config_price_cap"))
  add(layers, compiledRequest(routing))
  return {
    layers,
    alpha: routing.alpha ?? configuration?.alpha ?? project.defaultAlpha ?? defaultAlpha,
    fallbackEnabled:
      project.enableFallback && (configuration?.enableFallback ?? true) && (routing.enableFallback ?? true),
    explorationShare: project.explorationShare ?? 0,
    routingConfig: configuration?.slug ?? null,
    policyVersion: project.version
  }
}

/**
 * The first reason why the call may not use the model, or `null`. Prices are those of the tier of a prompt of this length and of the requested service
 * tier; a price equal to a cap is allowed, an unknown price under a cap is not.
 */
export const excludedBy = (
  policy: EffectivePolicy,
  model: Pick<Model, "id" | "alias" | "providerId" | "prices">,
  promptTokens: number,
  terms: PriceTerms = plainTerms
): Exclusion | null => {
  for (const layer of policy.layers) {
    if (!admitsModel(layer.models, model) || !admitsProvider(layer.providers, model.providerId)) return layer.restricted
    if (layer.capped) {
      if (model.prices === null) return layer.overPriceCap
      const rates = ratesFor(listOf(model.prices, terms), promptTokens)
      if (
        rates.input > layer.maxInputPriceMicroUsdPerMillion ||
        rates.output > layer.maxOutputPriceMicroUsdPerMillion
      ) {
        return layer.overPriceCap
      }
    }
  }
  return null
}

export const isProjectExclusion = (exclusion: string): boolean =>
  exclusion === "project_policy" || exclusion === "project_price_cap"

/** Whether patterns as in a policy match the model; `null` matches every one. */
export const patternsMatch = (entries: ReadonlyArray<string> | null, model: Model): boolean =>
  entries === null || matches(patternsOnce(entries), model)

type Named = Pick<Model, "id" | "alias" | "providerId">

const admitsModel = ({ allow, deny }: CompiledRestriction, model: Named): boolean =>
  (allow === null || matches(allow, model)) && (deny === null || !denies(deny, model))

/** A maker whose models are denied is denied wherever they are sold: an upstream name may begin with the maker. */
const denies = (deny: Patterns, model: Named): boolean =>
  matches(deny, model) || (deny.prefixes.size > 0 && hasPrefix(deny.prefixes, model.alias, 0))

const admitsProvider = (restriction: CompiledRestriction, providerId: string): boolean => {
  const { allow, deny } = restriction
  return (allow === null || matchesProvider(allow, providerId)) && (deny === null || !matchesProvider(deny, providerId))
}

/** A bare upstream name matches all routes to that model; prefixes match concrete ids, and where they deny also upstream names. */
const matches = ({ everything, exact, prefixes }: Patterns, { alias, id, providerId }: Named): boolean =>
  everything ||
  exact.has(id) ||
  exact.has(alias) ||
  // that of a provider is the most frequent prefix, and is there as a text of its own
  (prefixes.size > 0 && (prefixes.has(providerId) || hasPrefix(prefixes, id, providerId.length + 1)))

/** `acme/*` matches every id under acme, hence the provider `acme` too. */
const matchesProvider = (patterns: Patterns, providerId: string): boolean =>
  patterns.everything ||
  patterns.exact.has(providerId) ||
  (patterns.prefixes.size > 0 && (patterns.prefixes.has(providerId) || hasPrefix(patterns.prefixes, providerId, 0)))

const hasPrefix = (prefixes: ReadonlySet<string>, id: string, from: number): boolean => {
  for (let slash = id.indexOf("/", from); slash !== -1; slash = id.indexOf("/", slash + 1)) {
    if (prefixes.has(id.slice(0, slash))) return true
  }
  return false
}

const add = (layers: Array<CompiledRestrictions>, layer: CompiledRestrictions): void => {
  const open =
    layer.models.allow === null &&
    layer.models.deny === null &&
    layer.providers.allow === null &&
    layer.providers.deny === null &&
    !layer.capped
  if (!open) layers.push(layer)
}

/** Policies and configurations are immutable and shared by many calls; their patterns are compiled once. */
const compiled = new WeakMap<RoutingRestrictions, CompiledRestrictions>()
let lastSerial = 0

const compiledOnce = (
  restrictions: RoutingRestrictions,
  restricted: Exclusion,
  tooDear: Exclusion
): CompiledRestrictions => {
  const known = compiled.get(restrictions)
  if (known !== undefined && known.restricted === restricted) return known
  const layer = compile(restrictions, restricted, tooDear, ++lastSerial)
  compiled.set(restrictions, layer)
  return layer
}

const compiledRequest = (routing: Omit<RoutingControls, "routingConfig" | "maxCostMicroUsd">): CompiledRestrictions =>
  compile(
    {
      models: routing.models,
      providers: routing.providers,
      maxInputPriceMicroUsdPerMillion: routing.maxInputPriceMicroUsdPerMillion ?? null,
      maxOutputPriceMicroUsdPerMillion: routing.maxOutputPriceMicroUsdPerMillion ?? null
    },
    "request_restriction",
    "request_price_cap",
    null
  )

const compile = (
  restrictions: RoutingRestrictions,
  restricted: Exclusion,
  tooDear: Exclusion,
  serial: number | null
): CompiledRestrictions => {
  const { maxInputPriceMicroUsdPerMillion: input, maxOutputPriceMicroUsdPerMillion: output } = restrictions
  return {
    serial,
    models: compileRestriction(restrictions.models),
    providers: compileRestriction(restrictions.providers),
    maxInputPriceMicroUsdPerMillion: input ?? Number.POSITIVE_INFINITY,
    maxOutputPriceMicroUsdPerMillion: output ?? Number.POSITIVE_INFINITY,
    capped: input !== null || output !== null,
    restricted,
    overPriceCap: tooDear
  }
}

const unrestricted: CompiledRestriction = { allow: null, deny: null }

const compileRestriction = ({ allow, deny }: Restriction): CompiledRestriction =>
  allow === null && deny.length === 0
    ? unrestricted
    : { allow: allow === null ? null : compilePatterns(allow), deny: deny.length === 0 ? null : compilePatterns(deny) }

const knownPatterns = new WeakMap<ReadonlyArray<string>, Patterns>()

const patternsOnce = (entries: ReadonlyArray<string>): Patterns => {
  const known = knownPatterns.get(entries)
  if (known !== undefined) return known
  const patterns = compilePatterns(entries)
  knownPatterns.set(entries, patterns)
  return patterns
}

const compilePatterns = (entries: ReadonlyArray<string>): Patterns => {
  const exact = new Set<string>()
  const prefixes = new Set<string>()
  for (const entry of entries) {
    if (entry.endsWith("/*")) prefixes.add(entry.slice(0, -2))
    else exact.add(entry)
  }
  return { everything: exact.has("*"), exact, prefixes }
}
