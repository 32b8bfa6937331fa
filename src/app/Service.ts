import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { bootstrap } from "../account/Bootstrap.ts"
import { applyConfiguration } from "../account/BootstrapConfiguration.ts"
import type * as Settings from "../config/Settings.ts"
import { Readiness } from "../http/Readiness.ts"
import { Server } from "../http/Server.ts"
import { StoreHealth } from "../ledger/StoreHealth.ts"
import * as Database from "../sql/Database.ts"
import { greet } from "./Greeting.ts"
import { services } from "./Services.ts"
import * as Signals from "./Signals.ts"

/**
 * One whole gateway. The port opens only after the first rows and everything that the configuration says are committed:
 * the first answer that a client gets is already what the settings say.
 */
export const run = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    yield* Signals.hurryDrain
    const bootstrapped = yield* bootstrap(settings.bootstrap)
    yield* applyConfiguration(settings.policy, settings.routingConfigurations ?? [])
    return yield* Effect.provide(serve(settings, bootstrapped), server(settings))
  }).pipe(Effect.provide(services(settings)))

type Bootstrapped = Effect.Effect.Success<ReturnType<typeof bootstrap>>

const serve = Effect.fnUntraced(function* (settings: Settings.Settings, bootstrapped: Bootstrapped) {
  const { address } = yield* Server
  yield* greet(settings, bootstrapped, address.port)
  const { died } = yield* Database.Database
  return yield* died
})

const server = (settings: Settings.Settings) =>
  Server.layer({
    host: settings.host,
    port: settings.port,
    headHoldMillis: settings.headHoldMillis,
    heartbeatMillis: settings.heartbeatMillis,
    metricsToken: Option.fromNullable(settings.metricsToken),
    isLoopback: isLoopback(settings.host)
  }).pipe(Layer.provide(readiness), Layer.provide(NodeHttpServer.layerContext))

const readiness = Layer.effect(
  Readiness,
  Effect.map(StoreHealth, (health) => ({ check: health.takesWrites }))
)

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.")
