import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ProjectId } from "../domain/Ids.ts"
import type { RoutingConfiguration } from "../policy/Policy.ts"

export interface ConfigurationsShape {
  /** The project's routing configurations by slug, cached like its policy. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ReadonlyArray<RoutingConfiguration>, StoreUnavailable>
}

export class Configurations extends Context.Tag("gateway/routing/Configurations")<
  Configurations,
  ConfigurationsShape
>() {}
