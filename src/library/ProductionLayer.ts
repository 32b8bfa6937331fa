import * as Layer from "effect/Layer"
import { Idempotency, type IdempotencyOptions, issuesOfIdempotencyOptions } from "../calls/Idempotency.ts"
import type { Catalog } from "../catalog/Catalog.ts"
import { CredentialStore } from "../credentials/CredentialStore.ts"
import { MasterKey, type MasterKeyFailed, type MasterKeyOptions } from "../credentials/MasterKey.ts"
import { ProjectCredentials } from "../credentials/ProjectCredentials.ts"
import { SealedCredentials } from "../credentials/SealedCredentials.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { type ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { issuesWithin, layerIfValid } from "../domain/OptionIssues.ts"
import { Timers } from "../domain/Timers.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { defaultOptions, type GatewayOptions, issuesOfGatewayOptions } from "../gateway/GatewayOptions.ts"
import { type Ledger, LedgerLayer } from "../ledger/Ledger.ts"
import { maxCallDurationOf } from "../ledger/Recovery.ts"
import type { Scopes } from "../ledger/Scopes.ts"
import type { StoreHealth } from "../ledger/StoreHealth.ts"
import type { Policy } from "../policy/Policy.ts"
import { PolicyLayer, type PolicyOptions } from "../policy/PolicyLayer.ts"
import type { RateLimits } from "../policy/RateLimits.ts"
import type { RoutingConfigurations } from "../policy/RoutingConfigurations.ts"
import { issuesOfOptions } from "../provider/ProviderIssues.ts"
import { ProviderLayer, type ProviderOptions } from "../provider/ProviderLayer.ts"
import type { Providers } from "../provider/Providers.ts"
import { QualitySnapshotStore } from "../routing/evidence/QualitySnapshotStore.ts"
import { QualitySnapshots } from "../routing/evidence/QualitySnapshots.ts"
import type { Health } from "../routing/Health.ts"
import { OutputLengths } from "../routing/quality/OutputLengths.ts"
import type { RetryBudget } from "../routing/RetryBudget.ts"
import {
  type DatabaseError,
  DatabaseLayer,
  type DatabaseLayerOptions,
  type DatabaseServices,
  issuesOfDatabaseOptions
} from "../sql/DatabaseLayer.ts"
import { AccountLayer, type AccountOptions, type AccountServices, issuesOfAccountOptions } from "./AccountLayer.ts"
import { IdempotencyLayer } from "./IdempotencyLayer.ts"
import { observers } from "./Observers.ts"

/** What the whole stack is configured by; `R` is what the providers of the application need. */
export interface ProductionOptions<R = never> extends PolicyOptions, Pick<AccountOptions, "callDays"> {
  /** PostgreSQL by its URL, or the embedded one in a directory. */
  readonly database: DatabaseLayerOptions
  /** As of `ProviderLayer`: credentials of vendors, other servers, providers of the application. */
  readonly providers: ProviderOptions<R>
  /** Deadlines of a call and how many candidates it may try. */
  readonly gateway?: GatewayOptions
  /** Opens the sealed credentials of projects that pay their providers themselves; without it these have none. */
  readonly masterKey?: MasterKeyOptions
  /** Keeps responses for repetitions of requests with an `Idempotency-Key`; without it these are refused. */
  readonly idempotency?: IdempotencyOptions
  /** Time for everything but the database; default real time. `Timers.layerClock` follows a TestClock. */
  readonly timers?: Layer.Layer<Timers>
}

/** Everything that `ProductionLayer` provides. */
export type ProductionServices =
  | AccountServices
  | Catalog
  | DatabaseServices
  | Gateway
  | Health
  | Idempotency
  | IdGenerator
  | Ledger
  | Policy
  | Providers
  | RateLimits
  | RetryBudget
  | RoutingConfigurations
  | Scopes
  | StoreHealth
  | Timers

/**
 * The stack of the service without its HTTP server: gateway, providers, policy, ledger and the programs of accounts, on
 * PostgreSQL or the embedded database. Failed attempts are logged, calls counted in Effect's metrics; `CallObservers` that are
 * provided to it are kept. Needs nothing but what the application's own providers need. Fails with `InvalidConfiguration`,
 * which names every option that is wrong by its place, such as `providers.own[0].baseUrl`, where the database cannot be opened, and
 * where the master key cannot be used.
 *
 * @example
 * const stack = ProductionLayer({ database: { directory: ":memory:" }, providers: { simulated: true } })
 * const models = Effect.map(Catalog, (catalog) => catalog.snapshot().models.length)
 * await Effect.runPromise(Effect.provide(models, stack))
 */
export const ProductionLayer = <R = never>(
  options: ProductionOptions<R>
): Layer.Layer<ProductionServices, DatabaseError | InvalidConfiguration | MasterKeyFailed, R> =>
  layerIfValid(
    () => issuesOfProductionOptions(options),
    () => production(options)
  )

const issuesOfProductionOptions = ({
  database,
  gateway = defaultOptions,
  idempotency,
  providers,
  ...others
}: ProductionOptions<unknown>): ReadonlyArray<ConfigIssue> => [
  ...issuesWithin("database", issuesOfDatabaseOptions(database)),
  ...issuesWithin("providers", issuesOfOptions(providers)),
  ...issuesWithin("gateway", issuesOfGatewayOptions(gateway)),
  ...issuesOfAccountOptions(others),
  ...(idempotency === undefined ? [] : issuesWithin("idempotency", issuesOfIdempotencyOptions(idempotency)))
]

const production = <R>(
  options: ProductionOptions<R>
): Layer.Layer<ProductionServices, DatabaseError | InvalidConfiguration | MasterKeyFailed, R> => {
  const { callDays, database, gateway = defaultOptions, masterKey = noMasterKey, rateLimits } = options
  const policy = rateLimits === undefined ? {} : { rateLimits }
  const account = callDays === undefined ? policy : { ...policy, callDays }
  const credentials = ProjectCredentials.layer.pipe(
    Layer.provide(
      Layer.provideMerge(SealedCredentials.layer, Layer.merge(CredentialStore.layer, MasterKey.layer(masterKey)))
    )
  )
  const quality = QualitySnapshots.layer.pipe(Layer.provide(QualitySnapshotStore.layer))
  const stack = Layer.mergeAll(
    Gateway.layerWith(gateway).pipe(Layer.provide([observers, credentials, quality])),
    AccountLayer(account),
    options.idempotency === undefined ? Idempotency.layerOff : IdempotencyLayer(options.idempotency)
  ).pipe(
    Layer.provide(OutputLengths.layer),
    Layer.provideMerge(providerLayer(options.providers)),
    Layer.provideMerge(PolicyLayer(policy)),
    Layer.provideMerge(LedgerLayer({ maxCallDuration: maxCallDurationOf(gateway.deadlines) })),
    Layer.provideMerge(DatabaseLayer(database)),
    Layer.provideMerge(IdGenerator.layer)
  )
  // two stacks in one application would else share the parts without options, and with them the database of the first
  return Layer.provideMerge(Layer.fresh(stack), options.timers ?? Timers.layer)
}

/** What is wrong with the application's own providers is known only once they are made. */
const providerLayer = <R>(options: ProviderOptions<R>) =>
  Layer.mapError(
    ProviderLayer(options),
    ({ issues }) => new InvalidConfiguration({ issues: issuesWithin("providers", issues) })
  )

const noMasterKey: MasterKeyOptions = { current: null, previous: null, directory: null }
