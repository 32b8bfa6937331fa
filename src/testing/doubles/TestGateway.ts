import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Utils from "effect/Utils"
import { Catalog } from "../../catalog/Catalog.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { IdGenerator, makeUuid } from "../../domain/IdGenerator.ts"
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
  /**
   * Of Effect's `Random`, in the Layer and in what it is provided to, and of the ids, unless an `IdGenerator` is provided to the Layer:
   * the same test with the same seed has the same results; default 1.
   */
  readonly seed?: number
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
const defaultSeed = 1

/** The real gateway program with the given providers and the ledger in memory. Options that are wrong are a defect. */
export const layer = (
  options: TestGatewayOptions
): Layer.Layer<Gateway | Ledger | Scopes | MemoryLedger | IdGenerator | Timers | Health> => {
  const { seed = defaultSeed } = options
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
    Layer.provideMerge(layerIds(seed))
  )
  // two of them in one test have nothing in common
  return Layer.orDie(Layer.provideMerge(Layer.fresh(stack), Layer.merge(timers, layerRandom(seed))))
}

/** Suspended: each Layer that is built draws from the first number on. */
const layerRandom = (seed: number): Layer.Layer<never> =>
  Layer.fresh(Layer.suspend(() => Layer.setRandom(Random.make(seed))))

const layerIds = (seed: number): Layer.Layer<IdGenerator, never, Timers> =>
  Layer.effect(
    IdGenerator,
    Effect.gen(function* () {
      const timers = yield* Timers
      const given = yield* Effect.serviceOption(IdGenerator)
      const random = new Utils.PCGRandom(seed)
      return Option.getOrElse(given, () => ({
        uuid: makeUuid(timers.now, (bytes) => {
          for (let at = 0; at < bytes.length; at++) bytes[at] = random.integer(256)
        })
      }))
    })
  )
