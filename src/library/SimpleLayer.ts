import * as Layer from "effect/Layer"
import type { Catalog } from "../catalog/Catalog.ts"
import { Caller } from "../domain/Caller.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../domain/Ids.ts"
import type { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { issuesWithin, layerIfValid } from "../domain/OptionIssues.ts"
import { Timers } from "../domain/Timers.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { defaultOptions, type GatewayOptions, issuesOfGatewayOptions } from "../gateway/GatewayOptions.ts"
import { issuesOfMemoryLedgerOptions, Ledger } from "../ledger/Ledger.ts"
import type { Scopes } from "../ledger/Scopes.ts"
import { Policy } from "../policy/Policy.ts"
import { issuesOfOptions } from "../provider/ProviderIssues.ts"
import { ProviderLayer, type ProviderOptions } from "../provider/ProviderLayer.ts"
import type { Health } from "../routing/Health.ts"
import { observers } from "./Observers.ts"

/** What a gateway without a database is configured by; `R` is what the providers of the application need. */
export interface SimpleOptions<R = never> extends ProviderOptions<R> {
  /** What all calls together may cost, in whole micro-USD; default 25 000 000. */
  readonly creditMicroUsd?: number
  /** Deadlines of a call and how many candidates it may try. */
  readonly gateway?: GatewayOptions
  /** Default real time; `Timers.layerClock` follows a TestClock. */
  readonly timers?: Layer.Layer<Timers>
}

const defaultCreditMicroUsd = 25_000_000

/** The one caller of a gateway that has no accounts. */
const onlyCaller = {
  keyId: KeyId.make("00000000-0000-7000-8000-000000000001"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000002"),
  accountId: AccountId.make("00000000-0000-7000-8000-000000000003"),
  billingMode: "managed"
} as const

/**
 * A gateway for one program: an open policy, money counted in memory, one caller. Without options, or without any provider in
 * them, its providers are simulated. Failed attempts are logged, calls counted in Effect's metrics; `CallObservers` that are provided to
 * it are kept. Fails with `InvalidConfiguration`, which names every option that is wrong: as for `ProviderLayer`,
 * deadlines and attempts out of bounds, a credit that is no amount of money.
 *
 * @example
 * const asked = Effect.flatMap(Gateway, (gateway) =>
 *   Effect.flatMap(makeRequest({ model: "auto", messages: [{ role: "user", content: "Say hello." }] }), gateway.complete)
 * )
 * await Effect.runPromise(Effect.provide(asked, SimpleLayer()))
 */
export const SimpleLayer = <R = never>(
  options: SimpleOptions<R> = {}
): Layer.Layer<
  Caller | Catalog | Gateway | Health | IdGenerator | Ledger | Scopes | Timers,
  InvalidConfiguration,
  R
> => {
  const {
    creditMicroUsd = defaultCreditMicroUsd,
    gateway = defaultOptions,
    timers = Timers.layer,
    ...providers
  } = options
  const hasProviders =
    (providers.credentials?.size ?? 0) > 0 ||
    (providers.bedrock ?? null) !== null ||
    (providers.own?.length ?? 0) > 0 ||
    (providers.providers?.length ?? 0) > 0
  const stack = Layer.merge(
    Layer.provide(Gateway.layerWith(gateway), observers),
    Layer.succeed(Caller, onlyCaller)
  ).pipe(
    Layer.provideMerge(ProviderLayer({ simulated: !hasProviders, ...providers })),
    Layer.provide(Policy.layerOpen),
    Layer.provideMerge(Ledger.layerMemory({ creditMicroUsd })),
    Layer.provideMerge(IdGenerator.layer)
  )
  // two of them in one application have nothing in common
  return layerIfValid(
    () => [
      ...issuesOfOptions(providers),
      ...issuesWithin("gateway", issuesOfGatewayOptions(gateway)),
      ...issuesOfMemoryLedgerOptions({ creditMicroUsd })
    ],
    () => Layer.provideMerge(Layer.fresh(stack), timers)
  )
}
