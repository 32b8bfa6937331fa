import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { buildModels } from "../catalog/Build.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { builtInCatalog } from "../catalog/CatalogFile.ts"
import type { ConfiguredModel, ModelPatch } from "../catalog/Patch.ts"
import { Timers } from "../domain/Timers.ts"
import { Providers } from "../provider/Providers.ts"
import * as Registry from "../provider/Registry.ts"
import * as Simulated from "../provider/simulated/Models.ts"
import { Transport } from "../provider/Transport.ts"
import type { BedrockAccess } from "../provider/vendors/AmazonBedrock.ts"
import { describe } from "../provider/vendors/Vendor.ts"

/** A provider of one's own with the models it offers. */
export interface OwnProvider extends Registry.OwnProvider {
  readonly models: ReadonlyArray<ConfiguredModel>
}

export interface ProviderOptions {
  /** Keys of built-in vendors by vendor id (`openai`, `groq`, …); only these vendors' models are offered. */
  readonly credentials?: ReadonlyMap<string, Redacted.Redacted>
  /** Amazon Bedrock: its region, and a key of its own or an AWS identity that signs. */
  readonly bedrock?: BedrockAccess | null
  readonly own?: ReadonlyArray<OwnProvider>
  /** The simulated providers `sim` and `sim2`: no sockets, no cost, the same answer each time. */
  readonly simulated?: boolean
  /** Changes to catalog entries by model id; `null` removes the model. */
  readonly patches?: Readonly<Record<string, ModelPatch | null>>
  /** Name lookup, TCP and TLS together, in milliseconds; default 5000. */
  readonly connectMillis?: number
}

const usualConnectMillis = 5_000

/** The providers that can be called, and the catalog of what they offer. */
export const ProviderLayer = (options: ProviderOptions): Layer.Layer<Providers | Catalog, never, Timers> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const own = options.own ?? []
      const simulated = options.simulated ?? false
      const registry = Registry.make({
        transport: yield* Transport,
        timers: yield* Timers,
        credentials: options.credentials ?? new Map(),
        bedrock: options.bedrock ?? null,
        own,
        simulated
      })
      const models = buildModels({
        data: builtInCatalog,
        vendors: registry.vendors.map(describe),
        configured: registry.own.map((vendor, index) => ({ ...describe(vendor), models: own[index]?.models ?? [] })),
        ready: simulated ? Simulated.models : [],
        patches: options.patches ?? {}
      })
      return Layer.merge(Providers.layerOf(registry.providers), Catalog.layerOf(models))
    })
  ).pipe(Layer.provide(Transport.layer({ connectMillis: options.connectMillis ?? usualConnectMillis })))
