import { hostname } from "node:os"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isLoopbackAddress } from "../config/Environment.ts"
import type * as Settings from "../config/Settings.ts"
import { FirstRun } from "../domain/Periodic.ts"
import { version } from "../domain/Version.ts"
import * as OutgoingHttp from "../egress/OutgoingHttp.ts"
import { AccountRoutes } from "../http/account/AccountRoutes.ts"
import { Dashboard } from "../http/dashboard/Dashboard.ts"
import { PersonSecurity } from "../http/inference/PersonSecurity.ts"
import { Readiness } from "../http/server/Readiness.ts"
import { Server } from "../http/server/Server.ts"
import { PublicUrl, signInUrl } from "../identity/sessions/PublicUrl.ts"
import { SignIn } from "../identity/sessions/SignIn.ts"
import { InvariantCheck } from "../ledger/InvariantCheck.ts"
import { StoreHealth } from "../ledger/StoreHealth.ts"
import * as LedgerMetrics from "../observe/LedgerMetrics.ts"
import * as Metrics from "../observe/Metrics.ts"
import * as ProcessMetrics from "../observe/ProcessMetrics.ts"
import * as Stalls from "../observe/Stalls.ts"
import * as Database from "../sql/Database.ts"
import { printBanner, printKeyOfFailedStart } from "./Banner.ts"
import type { Configuration } from "./Configuration.ts"
import { bootstrap } from "./FirstStart.ts"
import { applyConfiguration } from "./FirstStartConfiguration.ts"
import * as LastValid from "./reload/LastValid.ts"
import * as LiveSettings from "./reload/LiveSettings.ts"
import * as Reload from "./reload/Reload.ts"
import * as SealedValues from "./SealedValues.ts"
import { services } from "./Services.ts"
import * as Signals from "./Signals.ts"
import { logStart } from "./StartLog.ts"
import { firstRowsMade, startPart } from "./StartPart.ts"
import { logWarnings } from "./StartWarnings.ts"
import * as Telemetry from "./Telemetry.ts"
import * as WorkerMetrics from "./WorkerMetrics.ts"

/**
 * The complete gateway. The port opens only after the first rows and the configuration are committed, so that the first response
 * already follows the settings.
 */
export const run = (configuration: Configuration) => {
  const live = LiveSettings.make(configuration.settings)
  const { settings } = live
  const started = Effect.unsafeMakeLatch()
  return Effect.gen(function* () {
    yield* Signals.forceDrainOnSecondSignal
    const bootstrapped = yield* bootstrap(settings.bootstrap)
    yield* applyConfiguration(settings.policy, settings.routingConfigurations ?? [])
    yield* logIgnored(bootstrapped)
    yield* firstRowsMade
    yield* LastValid.report(configuration)
    yield* logWarnings(settings, configuration.variables)
    if (startPart() === "first") yield* logSealedOtherwise(settings)
    yield* Effect.flatMap(Reload.make(live), reloadBySignal)
    // building the layers takes longer than any request may block the event loop
    const listening = Layer.provideMerge(
      Layer.mergeAll(Stalls.layer, ProcessMetrics.layer),
      Layer.provide(server(settings), WorkerMetrics.layer)
    ).pipe(Layer.tapErrorCause(() => printKeyOfFailedStart(bootstrapped)))
    return yield* Effect.provide(serve(settings, configuration, bootstrapped, started.open), listening)
  }).pipe(
    Effect.scoped,
    Effect.provide(services(settings)),
    Effect.provide(telemetry(settings)),
    Effect.provideService(FirstRun, started.await)
  )
}

/** The tracer of everything else, the server's fibers included. */
const telemetry = ({ otlp, proxy }: Settings.Settings): Layer.Layer<never> =>
  otlp === null
    ? Layer.empty
    : Telemetry.layer({ ...otlp, instanceId: `${hostname()}-${process.pid}` }).pipe(
        Layer.provide(OutgoingHttp.layer(proxy))
      )

const reloadBySignal = <R>(reload: Effect.Effect<void, never, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) => Signals.onReload(Effect.provide(reload, context)))

type Bootstrapped = Effect.Effect.Success<ReturnType<typeof bootstrap>>

const serve = Effect.fnUntraced(function* (
  settings: Settings.Settings,
  { variables }: Configuration,
  bootstrapped: Bootstrapped,
  started: Effect.Effect<void>
) {
  const { address } = yield* Server
  const { died, kind } = yield* Database.Database
  Metrics.start()
  LedgerMetrics.start()
  yield* logStart(settings, variables, kind, address.port)
  Metrics.build(version, process.versions.node, kind)
  if (startPart() !== "none") {
    yield* printBanner(settings, bootstrapped, address.port, yield* signInLink(settings, bootstrapped, address.port))
  }
  yield* started
  return yield* died
})

const logIgnored = (bootstrapped: Bootstrapped): Effect.Effect<void> =>
  !bootstrapped.created && bootstrapped.ignored && startPart() === "first"
    ? Effect.logWarning("GATEWAY_BOOTSTRAP_* were ignored: they act on an empty database only")
    : Effect.void

/** A database that does not answer this keeps no service from starting. */
const logSealedOtherwise = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    const issue = yield* SealedValues.otherKeyOf(settings)
    if (issue !== null) yield* Effect.logError(`${issue.path} ${issue.message}`)
  }).pipe(
    Effect.provide(SealedValues.layer),
    Effect.catchTag("StoreUnavailable", () => Effect.void)
  )

/** At every start on a loopback address; elsewhere only at the first, since logs are read by others there. */
const signInLink = Effect.fnUntraced(function* (settings: Settings.Settings, bootstrapped: Bootstrapped, port: number) {
  if (!isLoopbackAddress(settings.host) && !bootstrapped.created) return undefined
  const made = yield* (yield* SignIn).codeAtStart
  return made === undefined ? undefined : signInUrl((yield* PublicUrl).at(port), made.code)
})

/** The listener, for which everything else is there. */
export const server = (settings: Settings.Settings) =>
  Server.layer(
    LiveSettings.viewOf(() => ({
      host: settings.host,
      port: settings.port,
      headHoldMillis: settings.headHoldMillis,
      heartbeatMillis: settings.heartbeatMillis,
      metricsToken: Option.fromNullable(settings.metricsToken),
      isLoopback: isLoopbackAddress(settings.host)
    }))
  ).pipe(
    Layer.provide(readiness),
    Layer.provide(AccountRoutes.layer),
    Layer.provide(PersonSecurity.layer),
    Layer.provide(Dashboard.layer(settings.oidc === null ? "link" : "oidc")),
    Layer.provide(NodeHttpServer.layerContext)
  )

const readiness = Layer.effect(
  Readiness,
  Effect.gen(function* () {
    const health = yield* StoreHealth
    const invariants = yield* InvariantCheck
    return {
      check: health.takesWrites,
      outage: health.outage,
      violations: () => invariants.last()?.violations ?? {}
    }
  })
)
