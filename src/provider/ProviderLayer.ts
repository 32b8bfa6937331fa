import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { buildModels, unavailableModels } from "../catalog/Build.ts"
import { Catalog, makeSnapshot } from "../catalog/Catalog.ts"
import { builtInCatalog } from "../catalog/CatalogFile.ts"
import type { ConfiguredModel, ModelPatch } from "../catalog/Patch.ts"
import { defaultConnectMillis } from "../domain/DefaultOptions.ts"
import type { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import type { Model } from "../domain/Model.ts"
import { layerIfValid, requireValid } from "../domain/OptionIssues.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import type { ProxyOptions } from "../egress/Proxy.ts"
import * as Defects from "../observe/Defects.ts"
import { Health } from "../routing/Health.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import { type Generation, LiveProviders } from "./LiveProviders.ts"
import type { Provider } from "./Provider.ts"
import { type ConfigurableProviders, issuesOfIds, issuesOfOptions } from "./ProviderIssues.ts"
import { changedProviders, ProviderReplacement, type ReplaceableProviders } from "./ProviderReplacement.ts"
import { closedWithScope, make, Providers } from "./Providers.ts"
import * as Registry from "./Registry.ts"
import * as Simulated from "./simulated/Models.ts"
import type { ReportDefect } from "./transport/HttpProvider.ts"
import { Transport, type TransportShape } from "./transport/Transport.ts"
import type { BedrockAccess } from "./vendors/AmazonBedrock.ts"
import { describe, type Vendor } from "./vendors/Vendor.ts"
import { vendorsWithKeyAlone } from "./vendors/Vendors.ts"

/** A custom provider with its models. */
export interface OwnProvider extends Registry.CredentialedProvider {
  /** What it serves; each id begins with the provider's. */
  readonly models: ReadonlyArray<ConfiguredModel>
}

/** A provider that runs in this process, such as one of `makeProvider`, with its models. */
export interface InProcessProvider<R = never> {
  /** The provider, or the effect that makes it, once, when the Layer is built. */
  readonly provider: Provider | Effect.Effect<Provider, never, R>
  /** Of `makeModel`; each id begins with the provider's. */
  readonly models: ReadonlyArray<Model>
}

/** Which providers there are; `R` is what the providers of the application need. */
export interface ProviderOptions<R = never> {
  /** Keys of built-in vendors by vendor id (`openai`, `groq`, …); only the models of these vendors are available. */
  readonly credentials?: ReadonlyMap<string, Redacted.Redacted>
  /** Amazon Bedrock: the region, and a Bedrock API key or an AWS identity that signs requests. */
  readonly bedrock?: BedrockAccess | null
  /**
   * Calls that bring a credential (`byok`) can use every built-in vendor that needs no more than that, also one without a credential
   * here; default false.
   */
  readonly callerCredentials?: boolean
  /** Other servers that speak one of the four protocols. */
  readonly own?: ReadonlyArray<OwnProvider>
  /** Providers of the application, which run in this process. */
  readonly providers?: ReadonlyArray<InProcessProvider<R>>
  /** The simulated providers `sim` and `sim2`: no sockets, small prices, the same answer each time. */
  readonly simulated?: boolean
  /** Changes to models by id; `null` removes the model, and a complete patch of a new id adds one to its provider. */
  readonly patches?: Readonly<Record<string, ModelPatch | null>>
  /** Name lookup, TCP and TLS together, in milliseconds, with a proxy the tunnel and TLS each, 1 to 2,147,483,647; default 5000. */
  readonly connectMillis?: number
  /** HTTP proxies to the providers; by default none, whatever the environment says. */
  readonly proxy?: ProxyOptions
  /** @internal The names of a vendor's credential where it is set, any one of which would do. */
  readonly credentialNames?: (vendorId: string) => ReadonlyArray<string>
}

/**
 * The providers that can be called, the catalog of their models, and what recent calls say about their health. Fails with
 * `InvalidConfiguration`, which names every option that is wrong: a key that is empty or no header can carry, an unknown vendor, a base
 * URL or proxy that is none, an id that two providers or two models have, a model of another provider, a patch of a model that there is
 * not, prices or limits that are not whole numbers, an effort that the protocol has no name for, a setting that has no effect with it.
 *
 * @example
 * const layer = ProviderLayer({ simulated: true, patches: { "sim/fast": null } })
 */
export const ProviderLayer = <R = never>(
  options: ProviderOptions<R> = {}
): Layer.Layer<Providers | Catalog | Health | ProviderReplacement | RetryBudget, InvalidConfiguration, Timers | R> =>
  Layer.merge(
    providersAndCatalog(options).pipe(Layer.provide(transport(options)), Layer.provideMerge(Health.layer)),
    RetryBudget.layer
  )

/** Built first: with options that are wrong nothing is begun. */
const transport = (options: ProviderOptions<unknown>): Layer.Layer<Transport, InvalidConfiguration> =>
  layerIfValid(
    () => issuesOfOptions(options),
    () => Transport.layer({ connectMillis: options.connectMillis ?? defaultConnectMillis, proxy: options.proxy ?? {} })
  )

const providersAndCatalog = <R>(options: ProviderOptions<R>) =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const inProcess = yield* Effect.forEach(options.providers ?? [], resolved)
      yield* closedWithScope(inProcess.map(({ provider }) => provider))
      const base = { transport: yield* Transport, timers: yield* Timers, reportDefect: yield* reportDefect, inProcess }
      const live = new LiveProviders(yield* generationOf(options, base))
      const health = yield* Health
      let last: ReplaceableProviders = options
      return Context.make(Providers, live).pipe(
        Context.add(Catalog, live),
        Context.add(ProviderReplacement, {
          replace: (next) =>
            Effect.map(generationOf({ ...options, ...next }, base), (generation) => {
              live.replace(generation)
              for (const id of changedProviders(last, next)) health.forget(id)
              last = next
            })
        })
      )
    })
  )

const reportDefect: Effect.Effect<ReportDefect> = Effect.map(
  Defects.reporter("reading a provider's answer has thrown"),
  (report) =>
    (defect, { model, requestId }) =>
      report(Cause.die(defect), { requestId, model: model.id })
)

/** What every generation has: a pool of connections, a clock, and the providers of the application. */
interface Base {
  readonly transport: TransportShape
  readonly timers: TimersShape
  readonly reportDefect: ReportDefect
  readonly inProcess: ReadonlyArray<{ readonly provider: Provider; readonly models: ReadonlyArray<Model> }>
}

const generationOf = (options: ConfigurableProviders, base: Base): Effect.Effect<Generation, InvalidConfiguration> =>
  Effect.map(
    requireValid(() => [...issuesOfOptions(options), ...issuesOfIds(options, base.inProcess)]),
    () => generation(options, base)
  )

const generation = (
  options: ConfigurableProviders,
  { inProcess, reportDefect, timers, transport }: Base
): Generation => {
  const own = options.own ?? []
  const simulated = options.simulated ?? false
  const registry = Registry.make({
    transport,
    timers,
    reportDefect,
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
      ready: [...(simulated ? Simulated.models : []), ...inProcess.flatMap(({ models }) => models)],
      patches
    })
  const { callerVendors, vendors } = registry
  const usable = new Set(vendors.map(({ id }) => id))
  const credentialNames = options.credentialNames ?? ((id) => [`a credential of ${id}`])
  const needsOf = (id: string) => (vendorsWithKeyAlone.some((vendor) => vendor.id === id) ? credentialNames(id) : [])
  const snapshot = makeSnapshot(modelsOf(vendors), unavailableModels(builtInCatalog, patches, usable, needsOf))
  return {
    providers: make([...registry.providers, ...inProcess.map(({ provider }) => provider)]),
    snapshot,
    callerSnapshot: callerVendors.length === 0 ? snapshot : makeSnapshot(modelsOf([...vendors, ...callerVendors]))
  }
}

const resolved = <R>({ models, provider }: InProcessProvider<R>) =>
  Effect.map(Effect.isEffect(provider) ? provider : Effect.succeed(provider), (provider) => ({ provider, models }))
