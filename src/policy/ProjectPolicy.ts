import type { RoutingRestrictions } from "../domain/Chat.ts"

/** What the calls of a project may use. */
export interface ProjectPolicy extends RoutingRestrictions {
  /** Increases with every change. */
  readonly version: number
  readonly defaultAlpha: number | null
  readonly enableFallback: boolean
}

/** A project's routing configuration, selected as `auto:<slug>` or by id or slug in `routing_config`. */
export interface RoutingConfiguration extends RoutingRestrictions {
  readonly id: string
  readonly slug: string
  readonly alpha: number | null
  readonly enableFallback: boolean
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
