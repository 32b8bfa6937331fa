import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Idempotency } from "../calls/Idempotency.ts"
import { IdempotencyStore } from "../calls/IdempotencyStore.ts"
import type * as Settings from "../config/Settings.ts"
import { Ids } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { ProviderLayer } from "../gateway/ProviderLayer.ts"
import { Drain } from "../http/Drain.ts"
import { LoadShedding } from "../http/LoadShedding.ts"
import { Security } from "../http/Security.ts"
import { AccountStore } from "../identity/AccountStore.ts"
import { ApiKeyStore } from "../identity/ApiKeyStore.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"
import { ProjectStore } from "../identity/ProjectStore.ts"
import { LedgerLayer } from "../ledger/Ledger.ts"
import * as Stalls from "../observe/Stalls.ts"
import { PolicyLayer } from "../policy/Policy.ts"
import { PolicyStore } from "../policy/PolicyStore.ts"
import { RateLimits, shareOf } from "../policy/RateLimits.ts"
import { ConfigurationStore } from "../routing/ConfigurationStore.ts"
import { Configurations } from "../routing/Configurations.ts"
import { Health } from "../routing/Health.ts"
import { RetryBudget } from "../routing/RetryBudget.ts"
import { Changes } from "../sql/Changes.ts"
import * as Database from "../sql/Database.ts"

/** Every service but the listener: the database is open and migrated, and nothing has been written for the settings yet. */
export const services = (settings: Settings.Settings) => {
  const base = Ids.layer.pipe(Layer.provideMerge(Timers.layer))
  const database = Database.layer({
    url: Option.fromNullable(settings.databaseUrl),
    dataDir: settings.dataDirectory
  })
  const stores = Layer.mergeAll(
    AccountStore.layer,
    ApiKeyStore.layer,
    ConfigurationStore.layer,
    IdempotencyStore.layer,
    PolicyStore.layer,
    ProjectStore.layer
  ).pipe(Layer.provideMerge(Changes.layer))
  const knowledge = Layer.mergeAll(
    ApiKeys.layer,
    Configurations.layer,
    PolicyLayer,
    RateLimits.layerMemory(shareOf(settings.rateLimits, settings.workers)),
    Health.layer,
    Idempotency.layer,
    RetryBudget.layer,
    LedgerLayer,
    providers(settings)
  )
  const gateway = Gateway.layer({ deadlines: settings.timeouts, maxAttempts: settings.fallback.maxAttempts })
  const shell = Layer.mergeAll(Security.layer, LoadShedding.layer, Drain.layer(settings.drainGrace), Stalls.layer)
  return Layer.merge(gateway, shell).pipe(
    Layer.provideMerge(knowledge),
    Layer.provideMerge(stores),
    Layer.provideMerge(database),
    Layer.provideMerge(base)
  )
}

/** Providers and the catalog of what they offer. */
const providers = (settings: Settings.Settings) =>
  ProviderLayer({
    credentials: settings.vendorKeys,
    bedrock: settings.bedrock,
    own: settings.providers.map(({ apiKey, door, id, models }) => ({
      id,
      apiKey,
      models,
      protocol: door._tag === "Protocol" ? door.protocol : undefined,
      vendor: door._tag === "Vendor" ? door.vendor : undefined,
      baseUrl: door.baseUrl ?? undefined,
      outputCapField: door.outputCapField ?? undefined,
      billsAbortedCalls: door.billsAbortedCalls ?? undefined
    })),
    simulated: settings.simulated,
    patches: settings.models,
    connectMillis: settings.timeouts.connectMillis
  })
