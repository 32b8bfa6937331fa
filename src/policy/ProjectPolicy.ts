import type { RoutingRestrictions } from "../domain/Chat.ts"
import type { PolicyColumns } from "./PolicyStore.ts"

/** What the calls of a project may use. */
export interface ProjectPolicy extends RoutingRestrictions {
  /** Increases with every change. */
  readonly version: number
  /** For requests that have none; `null`: the gateway's. */
  readonly defaultAlpha: number | null
  /** False: only the first candidate is tried. */
  readonly enableFallback: boolean
  /** Of its calls, in which chance decides between models that are near each other; unset and 0: none. */
  readonly explorationShare?: number | undefined
  /** Of one of its settings, which a share of its conversations does not get. */
  readonly experiment?: Experiment | undefined
}

/** A change that conversations are held out of, with what applies to these. */
export type Experiment = {
  /** By which the conversations are divided. */
  readonly id: string
  /** Of the conversations that get the change, 0 to 1. */
  readonly share: number
} & (
  | { readonly kind: "policy"; readonly policy: ProjectPolicy }
  | {
      readonly kind: "routing_configuration"
      readonly slug: string
      readonly alpha: { readonly before: number | null; readonly after: number | null }
    }
)

/** A project's routing configuration, selected as `auto:<slug>` or by id or slug in `routing_config`. */
export interface RoutingConfiguration extends RoutingRestrictions {
  /** Of the configuration. */
  readonly id: string
  /** As in `auto:<slug>`. */
  readonly slug: string
  /** `null`: that of the project. */
  readonly alpha: number | null
  /** False: only the first candidate is tried. */
  readonly enableFallback: boolean
  /** An inactive one is not found by calls. */
  readonly isActive: boolean
}

export const policyOf = (row: PolicyColumns, version: number): ProjectPolicy => ({
  version,
  models: { allow: row.allowed_models, deny: row.excluded_models ?? [] },
  providers: { allow: row.allowed_providers, deny: row.excluded_providers ?? [] },
  maxInputPriceMicroUsdPerMillion: row.max_input_price_microusd_per_million,
  maxOutputPriceMicroUsdPerMillion: row.max_output_price_microusd_per_million,
  defaultAlpha: row.default_alpha,
  explorationShare: row.exploration_share,
  enableFallback: row.enable_fallback
})

/** Allows everything, with fallback. */
export const openPolicy: ProjectPolicy = {
  version: 1,
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  defaultAlpha: null,
  enableFallback: true
}
