import type { RoutingRestrictions } from "../domain/Chat.ts"

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
}

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
