import * as Layer from "effect/Layer"
import { Catalog } from "../catalog/Catalog.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { AccountId, Ids, KeyId, ProjectId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { defaultOptions, Gateway, type GatewayOptions } from "../gateway/Gateway.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Scopes } from "../ledger/Scopes.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../policy/Policy.ts"
import { type RateLimitOptions, RateLimits } from "../policy/RateLimits.ts"
import type { Provider } from "../provider/Provider.ts"
import { Providers } from "../provider/Providers.ts"
import { Health } from "../routing/Health.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import * as FixedPolicy from "./FixedPolicy.ts"
import { MemoryLedger } from "./MemoryLedger.ts"

export interface TestGatewayOptions {
  readonly models: ReadonlyArray<Model>
  readonly providers: ReadonlyArray<Provider>
  /** Time for deadlines and waits; default the real one. */
  readonly timers?: TimersShape
  /** What every account has; default 1 000 000 000 micro-USD. */
  readonly creditMicroUsd?: number
  readonly policy?: Partial<ProjectPolicy>
  readonly configurations?: ReadonlyArray<RoutingConfiguration>
  readonly rateLimits?: RateLimitOptions
  readonly gateway?: GatewayOptions
}

/** Somebody to call as. */
export const testCaller: CallerShape = {
  keyId: KeyId.make("00000000-0000-7000-8000-000000000001"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000002"),
  accountId: AccountId.make("00000000-0000-7000-8000-000000000003"),
  billingMode: "managed"
}

const usualCreditMicroUsd = 1_000_000_000

/** The real gateway program over the given providers, with its books in memory and nothing else around it. */
export const layer = (
  options: TestGatewayOptions
): Layer.Layer<Gateway | Ledger | Scopes | MemoryLedger | Ids | Timers | Health> => {
  const timers = options.timers === undefined ? Timers.layer : Layer.succeed(Timers, options.timers)
  return Gateway.layer(options.gateway ?? defaultOptions).pipe(
    Layer.provideMerge(Health.layer),
    Layer.provideMerge(MemoryLedger.layerFunded(options.creditMicroUsd ?? usualCreditMicroUsd)),
    Layer.provide([
      Catalog.layerOf(options.models),
      Providers.layerOf(options.providers),
      FixedPolicy.layerPolicy(options.policy),
      FixedPolicy.layerConfigurations(options.configurations),
      options.rateLimits === undefined ? RateLimits.layerOff : RateLimits.layerMemory(options.rateLimits),
      RetryBudget.layer
    ]),
    Layer.provideMerge(Ids.layer),
    Layer.provideMerge(timers)
  )
}
