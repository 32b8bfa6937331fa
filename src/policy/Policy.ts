import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Restriction } from "../domain/Chat.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ProjectId } from "../domain/Ids.ts"

/** One set of limits on where a call may go. A price equal to a cap is allowed; `null` is no cap. */
export interface Limits {
  readonly models: Restriction
  readonly providers: Restriction
  readonly maxInputPriceMicroUsdPerMillion: number | null
  readonly maxOutputPriceMicroUsdPerMillion: number | null
}

export interface ProjectPolicy extends Limits {
  /** Goes up with every change. */
  readonly version: number
  readonly defaultAlpha: number | null
  readonly enableFallback: boolean
}

/** A project's named way of routing, addressed as `auto:<slug>` or by id or slug in `routing_config`. */
export interface RoutingConfiguration extends Limits {
  readonly id: string
  readonly slug: string
  readonly alpha: number | null
  readonly enableFallback: boolean
  readonly isActive: boolean
}

export interface PolicyShape {
  /** What the project allows, cached; a change is seen at once on the node that made it. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ProjectPolicy, StoreUnavailable>
}

/** The rules of projects. `narrow` (pure) applies them; this service knows them. */
export class Policy extends Context.Tag("gateway/policy/Policy")<Policy, PolicyShape>() {}
