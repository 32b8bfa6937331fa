import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type Bootstrapped, bootstrap } from "./account/Bootstrap.ts"
import { applyConfiguration } from "./account/BootstrapConfiguration.ts"
import { Idempotency } from "./calls/Idempotency.ts"
import { IdempotencyStore } from "./calls/IdempotencyStore.ts"
import { builtInCatalog } from "./catalog/CatalogFile.ts"
import { ConfigurationFault } from "./config/Fault.ts"
import * as Settings from "./config/Settings.ts"
import { Ids } from "./domain/Ids.ts"
import { Timers } from "./domain/Timers.ts"
import { Gateway } from "./gateway/Gateway.ts"
import { ProviderLayer } from "./gateway/ProviderLayer.ts"
import { Drain } from "./http/Drain.ts"
import { LoadShedding } from "./http/LoadShedding.ts"
import { Readiness } from "./http/Readiness.ts"
import { Security } from "./http/Security.ts"
import { Server } from "./http/Server.ts"
import * as Workers from "./http/Workers.ts"
import { AccountStore } from "./identity/AccountStore.ts"
import { wellFormed } from "./identity/ApiKey.ts"
import { ApiKeyStore } from "./identity/ApiKeyStore.ts"
import { ApiKeys } from "./identity/ApiKeys.ts"
import { ProjectStore } from "./identity/ProjectStore.ts"
import { LedgerLayer } from "./ledger/Ledger.ts"
import { PolicyLayer } from "./policy/Policy.ts"
import { PolicyStore } from "./policy/PolicyStore.ts"
import { RateLimits } from "./policy/RateLimits.ts"
import * as Simulated from "./provider/simulated/Models.ts"
import { vendors } from "./provider/vendors/Vendors.ts"
import { ConfigurationStore } from "./routing/ConfigurationStore.ts"
import { Configurations } from "./routing/Configurations.ts"
import { Health } from "./routing/Health.ts"
import { RetryBudget } from "./routing/RetryBudget.ts"
import { Changes } from "./sql/Changes.ts"
import * as Database from "./sql/Database.ts"

/** EX_CONFIG: the operator has to change something before a restart makes sense. */
const configurationExitCode = 78

const loadOptions: Settings.LoadOptions = {
  vendors: vendors.map((vendor) => ({ id: vendor.id, env: vendor.credentialEnv })),
  isApiKey: wellFormed,
  builtInIds: [...vendors.map((vendor) => vendor.id), "sim", "sim2"],
  vendorIds: vendors.map((vendor) => vendor.id),
  placelessVendorIds: vendors.filter((vendor) => vendor.needsBaseUrl === true).map((vendor) => vendor.id),
  catalogModelIds: new Set([...builtInCatalog.models, ...Simulated.models].map((model) => model.id))
}

/** Providers and the catalog of what they offer. */
const offer = (settings: Settings.Settings) =>
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

/** Everything but the listener, so that an empty database is filled before anyone can call. */
const services = (settings: Settings.Settings) => {
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
    RateLimits.layerMemory(settings.rateLimits),
    Health.layer,
    Idempotency.layer,
    RetryBudget.layer,
    LedgerLayer,
    offer(settings)
  )
  const gateway = Gateway.layer({ deadlines: settings.timeouts, maxAttempts: settings.fallback.maxAttempts })
  return Layer.mergeAll(gateway, Security.layer, LoadShedding.layer, Drain.layer(settings.drainGrace)).pipe(
    Layer.provideMerge(knowledge),
    Layer.provideMerge(stores),
    Layer.provideMerge(database),
    Layer.provideMerge(base)
  )
}

const readiness = Layer.effect(
  Readiness,
  Effect.map(Database.Database, (database) => ({ check: database.answers }))
)

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.")

const server = (settings: Settings.Settings) =>
  Server.layer({
    host: settings.host,
    port: settings.port,
    headHoldMillis: settings.headHoldMillis,
    heartbeatMillis: settings.heartbeatMillis,
    metricsToken: Option.fromNullable(settings.metricsToken),
    isLoopback: isLoopback(settings.host)
  }).pipe(Layer.provide(readiness), Layer.provide(NodeHttpServer.layerContext))

const start = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    const bootstrapped = yield* bootstrap(settings.bootstrap)
    yield* applyConfiguration(settings.policy, settings.routingConfigurations ?? [])
    const { address } = yield* Server
    yield* greet(settings, bootstrapped, address.port)
    const { died } = yield* Database.Database
    return yield* died
  })

const greet = (settings: Settings.Settings, bootstrapped: Bootstrapped, port: number): Effect.Effect<void> => {
  const host = settings.host === "0.0.0.0" || settings.host === "::" ? "127.0.0.1" : settings.host
  const base = `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  const lines = [`Model routing gateway at ${base}/v1`]
  if (settings.simulated)
    lines.push("Simulated providers are on: no call leaves this machine and none costs real money.")
  if (!bootstrapped.created) {
    return bootstrapped.ignored
      ? Effect.zipRight(
          Console.log(lines.join("\n")),
          Effect.logWarning("GATEWAY_BOOTSTRAP_* were ignored: they act on an empty database only")
        )
      : Console.log(lines.join("\n"))
  }
  const key = bootstrapped.key === null ? "$GATEWAY_API_KEY" : Redacted.value(bootstrapped.key)
  if (bootstrapped.key !== null) lines.push("", `API key (shown once, keep it): ${key}`)
  lines.push(
    "",
    "Try it:",
    `curl ${base}/v1/chat/completions \\`,
    `  -H "authorization: Bearer ${key}" -H "content-type: application/json" \\`,
    `  -d '{"model":"auto","messages":[{"role":"user","content":"Say hello."}]}'`,
    ""
  )
  return Console.log(lines.join("\n"))
}

/** A second signal: do not wait for the running calls any longer. */
const listenForHurry = Effect.flatMap(Drain, (drain) =>
  Effect.sync(() => {
    let signals = 0
    const onSignal = () => {
      signals += 1
      if (signals > 1) Effect.runFork(drain.hurry)
    }
    process.on("SIGTERM", onSignal)
    process.on("SIGINT", onSignal)
  })
)

const main = Effect.gen(function* () {
  const settings = yield* Settings.load(loadOptions)
  if (Workers.isSupervisor(settings.workers)) return yield* Workers.supervise(settings.workers)
  const program = Effect.zipRight(listenForHurry, Effect.provide(start(settings), server(settings)))
  return yield* Effect.provide(program, services(settings)).pipe(Logger.withMinimumLogLevel(settings.logLevel))
}).pipe(Effect.provide(NodeFileSystem.layer))

/** What an operator can do something about is said in words; anything else is a defect with its cause. */
const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure instanceof ConfigurationFault) {
    return Console.error(
      [
        "The gateway cannot start. Put these right:",
        ...failure.faults.map(({ message, path }) => `  ${path} ${message}`)
      ].join("\n")
    )
  }
  return failure instanceof Error
    ? Console.error(`The gateway cannot go on: ${failure.message}`)
    : Console.error(`The gateway cannot go on:\n${Cause.pretty(cause)}`)
}

NodeRuntime.runMain(
  main.pipe(
    Effect.tapErrorCause(report),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.jsonLogger)))
  ),
  {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => {
      if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return onExit(0)
      const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
      onExit(failure instanceof ConfigurationFault ? configurationExitCode : 1)
    }
  }
)
