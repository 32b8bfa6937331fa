import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import type { Timers } from "../domain/Timers.ts"
import type { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import * as RowCache from "../sql/RowCache.ts"
import { callPolicyOf } from "./HeldOutPolicy.ts"
import { PolicyStore } from "./PolicyStore.ts"
import { openPolicy, type ProjectPolicy } from "./ProjectPolicy.ts"
import { RateLimits } from "./RateLimits.ts"
import { RoutingConfigurations } from "./RoutingConfigurations.ts"

export { type ProjectPolicy, policyOf, type RoutingConfiguration } from "./ProjectPolicy.ts"

/** Reads what projects allow. */
export interface PolicyShape {
  /** Cached; a change takes effect immediately on the node that made it. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ProjectPolicy, StoreUnavailable>
  /** What `ofProject` would give now, if that is in memory; `undefined`, or no such member: it has to be read. */
  readonly peek?: (project: ProjectId) => ProjectPolicy | undefined
}

/** The policies of projects; `intersectPolicies` applies them. */
export class Policy extends Context.Tag("gateway/policy/Policy")<Policy, PolicyShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<Policy, never, PolicyStore | ChangeNotifications | Timers> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )

  /** What `PolicyLayer` provides, without a database: every project may use everything, with fallback, and nothing is limited. */
  static readonly layerOpen: Layer.Layer<Policy | RoutingConfigurations | RateLimits> = Layer.mergeAll(
    Layer.succeed(this, { ofProject: () => Effect.succeed(openPolicy), peek: () => openPolicy }),
    RoutingConfigurations.layerNone,
    RateLimits.layerOff
  )
}

const make = Effect.gen(function* () {
  const store = yield* PolicyStore
  let lastAbsent: string | undefined
  // a program that goes on calling for one project does not fill the log
  const toldAbsent = (id: string) =>
    Effect.suspend(() => {
      if (id === lastAbsent) return Effect.void
      lastAbsent = id
      return Effect.annotateLogs(isAbsent, { projectId: id })
    })
  const cache = yield* RowCache.make<ProjectPolicy, ProjectPolicy>({
    load: (id) =>
      Effect.flatMap(store.findForCalls(ProjectId.make(id)), (row) =>
        row === undefined ? Effect.as(toldAbsent(id), undefined) : Effect.succeed(callPolicyOf(row))
      ),
    absent: nothingAllowed,
    kinds: ["project"]
  })
  return Policy.of({
    ofProject: cache.get,
    peek: cache.peek
  })
})

/** In the log alone: a caller learns no more than that there is no such model. */
const isAbsent = Effect.logWarning(
  "a call of a project that is not in the database finds no model: the project was deleted while its keys were remembered, for seconds, or the application around the gateway has not made it with `Projects.create`"
)

/** For a project that was deleted after its key was read, or never was in the database of an application. */
const nothingAllowed: ProjectPolicy = {
  version: 0,
  models: { allow: [], deny: [] },
  providers: { allow: [], deny: [] },
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  defaultAlpha: null,
  enableFallback: false
}
