import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { buildModels } from "../catalog/Build.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { builtInCatalog } from "../catalog/CatalogFile.ts"
import type { ConfiguredModel, ModelPatch } from "../catalog/Patch.ts"
import { Timers } from "../domain/Timers.ts"
import { Health } from "../routing/Health.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import { Providers } from "./Providers.ts"
import * as Registry from "./Registry.ts"
import * as Simulated from "./simulated/Models.ts"
import { Transport } from "./transport/Transport.ts"
import type { BedrockAccess } from "./vendors/AmazonBedrock.ts"
import { describe, type Vendor } from "./vendors/Vendor.ts"

/** A custom provider with its models. */
export interface OwnProvider extends Registry.CredentialedProvider {
  readonly models: ReadonlyArray<ConfiguredModel>
}

export interface ProviderOptions {
  /** Keys of built-in vendors by vendor id (`openai`, `groq`, …); only the models of these vendors are available. */
  readonly credentials?: ReadonlyMap<string, Redacted.Redacted>
  /** Amazon Bedrock: the region, and a Bedrock API key or an AWS identity that signs requests. */
  readonly bedrock?: BedrockAccess | null
  /**
   * Calls that bring a credential (`byok`) can use every built-in vendor that needs no more than that, also one without a credential
   * here; default false.
   */
  readonly callerCredentials?: boolean
  readonly own?: ReadonlyArray<OwnProvider>
  /** The simulated providers `sim` and `sim2`: no sockets, no cost, the same answer each time. */
  readonly simulated?: boolean
  /** Changes to catalog entries by model id; `null` removes the model. */
  readonly patches?: Readonly<Record<string, ModelPatch | null>>
  /** Name lookup, TCP and TLS together, in milliseconds; default 5000. */
  readonly connectMillis?: number
}

const defaultConnectMillis = 5_000

/** The providers that can be called, the catalog of their models, and what recent calls say about their health. */
export const ProviderLayer = (
  options: ProviderOptions
): Layer.Layer<Providers | Catalog | Health | RetryBudget, never, Timers> =>
  Layer.mergeAll(providersAndCatalog(options), Health.layer, RetryBudget.layer)

const providersAndCatalog = (options: ProviderOptions): Layer.Layer<Providers | Catalog, never, Timers> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const own = options.own ?? []
      const simulated = options.simulated ?? false
      const registry = Registry.make({
        transport: yield* Transport,
        timers: yield* Timers,
        credentials: options.credentials ?? new Map(),
        bedrock: options.bedrock ?? null,
        callerCredentials: options.callerCredentials ?? false,
        own,
        simulated
      })
      const modelsOf = (vendors: ReadonlyArray<Vendor>) =>
        buildModels({
          data: builtInCatalog,
          vendors: vendors.map(describe),
          configured: registry.own.map((vendor, index) => ({ ...describe(vendor), models: own[index]?.models ?? [] })),
          ready: simulated ? Simulated.models : [],
          patches: options.patches ?? {}
        })
      const { callerVendors, vendors } = registry
      const catalog = Catalog.layerOf(
        modelsOf(vendors),
        callerVendors.length === 0 ? undefined : modelsOf([...vendors, ...callerVendors])
      )
      return Layer.merge(Providers.layerOf(registry.providers), catalog)
    })
  ).pipe(Layer.provide(Transport.layer({ connectMillis: options.connectMillis ?? defaultConnectMillis })))
