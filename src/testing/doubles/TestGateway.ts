import * as Layer from "effect/Layer"
import { Catalog } from "../../catalog/Catalog.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../domain/Ids.ts"
import type { Model } from "../../domain/Model.ts"
import { Timers, type TimersShape } from "../../domain/Timers.ts"
import { Gateway } from "../../gateway/Gateway.ts"
import { defaultOptions, type GatewayOptions } from "../../gateway/GatewayOptions.ts"
import type { Ledger } from "../../ledger/Ledger.ts"
import type { Scopes } from "../../ledger/Scopes.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../../policy/Policy.ts"
import { type RateLimitOptions, RateLimits } from "../../policy/RateLimits.ts"
import type { Provider } from "../../provider/Provider.ts"
import { Providers } from "../../provider/Providers.ts"
import { Health } from "../../routing/Health.ts"
import { RetryBudget } from "../../routing/RetryBudget.ts"
import * as FixedPolicy from "./FixedPolicy.ts"
import { MemoryLedger } from "./MemoryLedger.ts"

/** What the gateway under test is made of. */
export interface TestGatewayOptions {
  /** The whole catalog. */
  readonly models: ReadonlyArray<Model>
  /** The models' providers. */
  readonly providers: ReadonlyArray<Provider>
  /** Time for deadlines and waits; default the current Effect Clock: a TestClock moves them too. */
  readonly timers?: TimersShape
  /** The credit of every account; default 1 000 000 000 micro-USD. */
  readonly creditMicroUsd?: number
  /** Changes to the open policy. */
  readonly policy?: Partial<ProjectPolicy>
  /** Routing configurations of every project; default none. */
  readonly configurations?: ReadonlyArray<RoutingConfiguration>
  /** Default none. */
  readonly rateLimits?: RateLimitOptions
  /** Deadlines and attempts; default those of the service. */
  readonly gateway?: GatewayOptions
}

/** A caller for tests. */
export const testCaller: CallerShape = {
  keyId: KeyId.make("00000000-0000-7000-8000-000000000001"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000002"),
  accountId: AccountId.make("00000000-0000-7000-8000-000000000003"),
  billingMode: "managed"
}

const defaultCreditMicroUsd = 1_000_000_000

/** The real gateway program with the given providers and the ledger in memory. Options that are wrong are a defect. */
export const layer = (
  options: TestGatewayOptions
): Layer.Layer<Gateway | Ledger | Scopes | MemoryLedger | IdGenerator | Timers | Health> => {
  const timers = options.timers === undefined ? Timers.layerClock : Timers.layerOf(options.timers)
  const stack = Gateway.layerWith(options.gateway ?? defaultOptions).pipe(
    Layer.provideMerge(Health.layer),
    Layer.provideMerge(MemoryLedger.layerFunded(options.creditMicroUsd ?? defaultCreditMicroUsd)),
    Layer.provide([
      Catalog.layerOf(options.models),
      Providers.layerOf(options.providers),
      FixedPolicy.layerPolicy(options.policy),
      FixedPolicy.layerConfigurations(options.configurations),
      options.rateLimits === undefined ? RateLimits.layerOff : RateLimits.layerMemory(options.rateLimits),
      RetryBudget.layer
    ]),
    Layer.provideMerge(IdGenerator.layer)
  )
  // two of them in one test have nothing in common
  return Layer.orDie(Layer.provideMerge(Layer.fresh(stack), timers))
}
