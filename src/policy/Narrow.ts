import type { Restriction, RoutingControls } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { ratesFor } from "../domain/Money.ts"
import type { Limits, ProjectPolicy, RoutingConfiguration } from "./Policy.ts"

/** Why a call may not go to a model; the words that `excluded` counts by. */
export type Exclusion =
  | "project_policy"
  | "project_price_cap"
  | "routing_config"
  | "routing_config_price_cap"
  | "request_restriction"
  | "request_price_cap"

/** Where one call may go: project, routing configuration and request, each of which only takes away. */
export interface Allowed {
  /** Project first, so that its verdict is the one that is told. */
  readonly layers: ReadonlyArray<AllowedLayer>
  /** 0 is cheapest, 1 is best. */
  readonly alpha: number
  readonly fallbackEnabled: boolean
  /** Slug of the routing configuration in force. */
  readonly routingConfig: string | null
  readonly policyVersion: number
}

interface AllowedLayer {
  readonly models: CompiledRestriction
  readonly providers: CompiledRestriction
  readonly maxInputPriceMicroUsdPerMillion: number
  readonly maxOutputPriceMicroUsdPerMillion: number
  readonly capped: boolean
  readonly restricted: Exclusion
  readonly tooDear: Exclusion
}

interface CompiledRestriction {
  /** `null` allows everything. */
  readonly allow: Patterns | null
  readonly deny: Patterns | null
}

interface Patterns {
  readonly everything: boolean
  readonly exact: ReadonlySet<string>
  /** Without the `/*` they were written with. */
  readonly prefixes: ReadonlySet<string>
}

const defaultAlpha = 0.65

export const narrow = (
  project: ProjectPolicy,
  configuration: RoutingConfiguration | null,
  routing: RoutingControls
): Allowed => {
  const layers: Array<AllowedLayer> = []
  add(layers, compiledOnce(project, "project_policy", "project_price_cap"))
  if (configuration !== null) add(layers, compiledOnce(configuration, "routing_config", "routing_config_price_cap"))
  add(layers, compiledRequest(routing))
  return {
    layers,
    alpha: routing.alpha ?? configuration?.alpha ?? project.defaultAlpha ?? defaultAlpha,
    fallbackEnabled:
      project.enableFallback && (configuration?.enableFallback ?? true) && (routing.enableFallback ?? true),
    routingConfig: configuration?.slug ?? null,
    policyVersion: project.version
  }
}

/**
 * The first reason why the model is out, or `null`. Prices are compared in the tier that a prompt of this length falls
 * into; a price equal to a cap is allowed, an unknown price under a cap is not.
 */
export const excludedBy = (allowed: Allowed, model: Model, promptTokens: number): Exclusion | null => {
  for (const layer of allowed.layers) {
    if (!admitsModel(layer.models, model) || !admitsProvider(layer.providers, model.providerId)) return layer.restricted
    if (layer.capped) {
      if (model.prices === null) return layer.tooDear
      const rates = ratesFor(model.prices, promptTokens)
      if (
        rates.input > layer.maxInputPriceMicroUsdPerMillion ||
        rates.output > layer.maxOutputPriceMicroUsdPerMillion
      ) {
        return layer.tooDear
      }
    }
  }
  return null
}

export const isProjectExclusion = (exclusion: string): boolean =>
  exclusion === "project_policy" || exclusion === "project_price_cap"

const admitsModel = (restriction: CompiledRestriction, model: Model): boolean => {
  const { allow, deny } = restriction
  return (
    (allow === null || matches(allow, model.id, model.alias)) &&
    (deny === null || !matches(deny, model.id, model.alias))
  )
}

const admitsProvider = (restriction: CompiledRestriction, providerId: string): boolean => {
  const { allow, deny } = restriction
  return (allow === null || matchesProvider(allow, providerId)) && (deny === null || !matchesProvider(deny, providerId))
}

/** A bare upstream name stands for all routes to that model; prefixes are those of concrete ids. */
const matches = (patterns: Patterns, id: string, alias: string): boolean =>
  patterns.everything ||
  patterns.exact.has(id) ||
  patterns.exact.has(alias) ||
  (patterns.prefixes.size > 0 && hasPrefix(patterns.prefixes, id))

/** `acme/*` is everything under acme, hence the provider `acme` too. */
const matchesProvider = (patterns: Patterns, providerId: string): boolean =>
  patterns.everything ||
  patterns.exact.has(providerId) ||
  (patterns.prefixes.size > 0 && (patterns.prefixes.has(providerId) || hasPrefix(patterns.prefixes, providerId)))

const hasPrefix = (prefixes: ReadonlySet<string>, id: string): boolean => {
  for (let slash = id.indexOf("/"); slash !== -1; slash = id.indexOf("/", slash + 1)) {
    if (prefixes.has(id.slice(0, slash))) return true
  }
  return false
}

const add = (layers: Array<AllowedLayer>, layer: AllowedLayer): void => {
  const open =
    layer.models.allow === null &&
    layer.models.deny === null &&
    layer.providers.allow === null &&
    layer.providers.deny === null &&
    !layer.capped
  if (!open) layers.push(layer)
}

/** Policies and configurations are immutable and outlive many calls; their patterns are compiled with the first. */
const compiledLimits = new WeakMap<Limits, AllowedLayer>()

const compiledOnce = (limits: Limits, restricted: Exclusion, tooDear: Exclusion): AllowedLayer => {
  const known = compiledLimits.get(limits)
  if (known !== undefined && known.restricted === restricted) return known
  const layer = compile(limits, restricted, tooDear)
  compiledLimits.set(limits, layer)
  return layer
}

const compiledRequest = (routing: RoutingControls): AllowedLayer =>
  compile(
    {
      models: routing.models,
      providers: routing.providers,
      maxInputPriceMicroUsdPerMillion: routing.maxInputPriceMicroUsdPerMillion ?? null,
      maxOutputPriceMicroUsdPerMillion: routing.maxOutputPriceMicroUsdPerMillion ?? null
    },
    "request_restriction",
    "request_price_cap"
  )

const compile = (limits: Limits, restricted: Exclusion, tooDear: Exclusion): AllowedLayer => {
  const { maxInputPriceMicroUsdPerMillion: input, maxOutputPriceMicroUsdPerMillion: output } = limits
  return {
    models: compileRestriction(limits.models),
    providers: compileRestriction(limits.providers),
    maxInputPriceMicroUsdPerMillion: input ?? Number.POSITIVE_INFINITY,
    maxOutputPriceMicroUsdPerMillion: output ?? Number.POSITIVE_INFINITY,
    capped: input !== null || output !== null,
    restricted,
    tooDear
  }
}

const unrestricted: CompiledRestriction = { allow: null, deny: null }

const compileRestriction = ({ allow, deny }: Restriction): CompiledRestriction =>
  allow === null && deny.length === 0
    ? unrestricted
    : { allow: allow === null ? null : compilePatterns(allow), deny: deny.length === 0 ? null : compilePatterns(deny) }

const compilePatterns = (entries: ReadonlyArray<string>): Patterns => {
  const exact = new Set<string>()
  const prefixes = new Set<string>()
  for (const entry of entries) {
    if (entry.endsWith("/*")) prefixes.add(entry.slice(0, -2))
    else exact.add(entry)
  }
  return { everything: exact.has("*"), exact, prefixes }
}
