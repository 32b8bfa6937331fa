import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { buildModels, unavailableModels } from "../catalog/Build.ts"
import { Catalog, makeSnapshot } from "../catalog/Catalog.ts"
import { builtInCatalog } from "../catalog/CatalogFile.ts"
import type { ConfiguredModel, ModelPatch } from "../catalog/Patch.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { Health } from "../routing/Health.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import { type Generation, LiveProviders } from "./LiveProviders.ts"
import { changedProviders, ProviderReplacement, type ReplaceableProviders } from "./ProviderReplacement.ts"
import { make, Providers } from "./Providers.ts"
import * as Registry from "./Registry.ts"
import * as Simulated from "./simulated/Models.ts"
import { Transport, type TransportShape } from "./transport/Transport.ts"
import type { BedrockAccess } from "./vendors/AmazonBedrock.ts"
import { describe, type Vendor } from "./vendors/Vendor.ts"
import { vendorOf } from "./vendors/Vendors.ts"

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
): Layer.Layer<Providers | Catalog | Health | ProviderReplacement | RetryBudget, never, Timers> =>
  Layer.merge(
    providersAndCatalog(options).pipe(
      Layer.provide(Transport.layer({ connectMillis: options.connectMillis ?? defaultConnectMillis })),
      Layer.provideMerge(Health.layer)
    ),
    RetryBudget.layer
  )

const providersAndCatalog = (options: ProviderOptions) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const transport = yield* Transport
      const timers = yield* Timers
      const live = new LiveProviders(generationOf(options, transport, timers))
      const health = yield* Health
      let last: ReplaceableProviders = options
      return Context.make(Providers, live).pipe(
        Context.add(Catalog, live),
        Context.add(ProviderReplacement, {
          replace: (next) =>
            Effect.sync(() => {
              live.replace(generationOf({ ...options, ...next }, transport, timers))
              for (const id of changedProviders(last, next)) health.forget(id)
              last = next
            })
        })
      )
    })
  )

const generationOf = (options: ProviderOptions, transport: TransportShape, timers: TimersShape): Generation => {
  const own = options.own ?? []
  const simulated = options.simulated ?? false
  const registry = Registry.make({
    transport,
    timers,
    credentials: options.credentials ?? new Map(),
    bedrock: options.bedrock ?? null,
    callerCredentials: options.callerCredentials ?? false,
    own,
    simulated
  })
  const patches = options.patches ?? {}
  const modelsOf = (vendors: ReadonlyArray<Vendor>) =>
    buildModels({
      data: builtInCatalog,
      vendors: vendors.map(describe),
      configured: registry.own.map((vendor, index) => ({ ...describe(vendor), models: own[index]?.models ?? [] })),
      ready: simulated ? Simulated.models : [],
      patches
    })
  const { callerVendors, vendors } = registry
  const usable = new Set(vendors.map(({ id }) => id))
  const snapshot = makeSnapshot(modelsOf(vendors), unavailableModels(builtInCatalog, patches, usable, credentialEnvOf))
  return {
    providers: make(registry.providers),
    snapshot,
    callerSnapshot: callerVendors.length === 0 ? snapshot : makeSnapshot(modelsOf([...vendors, ...callerVendors]))
  }
}

/** The variables of a vendor's credential, any one of which would do. */
const credentialEnvOf = (vendorId: string): ReadonlyArray<string> => vendorOf(vendorId)?.credentialEnv ?? []
