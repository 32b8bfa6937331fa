import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Variables } from "../config/DotEnv.ts"
import type * as Settings from "../config/Settings.ts"
import { networkText } from "../domain/IpNetwork.ts"
import { version } from "../domain/Version.ts"
import { credentialVariables } from "./ProviderSettings.ts"

/** One line that says what has started, with which settings; no secret, and of URLs only whether they are set. */
export const logStart = (
  settings: Settings.Settings,
  variables: Variables,
  database: "postgres" | "embedded",
  port: number
): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logInfo("started"), {
    version,
    node: process.versions.node,
    pid: process.pid,
    database,
    workers: settings.workers,
    host: settings.host,
    port,
    providers: [...new Set([...credentialVariables(settings).keys(), ...settings.providers.map(({ id }) => id)])].join(
      " "
    ),
    simulatedProviders: settings.simulated,
    settings: {
      DATA_DIR: database === "embedded" ? settings.dataDirectory : null,
      DATABASE_POOL_SIZE: database === "postgres" ? settings.poolSize : null,
      DRAIN_DELAY: text(settings.drainDelay),
      DRAIN_GRACE: text(settings.drainGrace),
      // which file, when the settings are not those that were expected
      GATEWAY_CONFIG: variables["GATEWAY_CONFIG"] || null,
      GATEWAY_MASTER_KEY: isSet(settings.masterKey.current),
      HTTP_PROXY: isSet(settings.proxy.http),
      HTTPS_PROXY: isSet(settings.proxy.https),
      LOG_LEVEL: settings.logLevel.label,
      METRICS_TOKEN: isSet(settings.metricsToken),
      NO_PROXY: settings.proxy.noProxy,
      OIDC_ISSUER: settings.oidc?.issuer ?? null,
      OTEL_EXPORTER_OTLP_ENDPOINT: settings.otlp?.endpoint ?? null,
      PUBLIC_URL: settings.publicUrl,
      S3_BUCKET: settings.objectStore?.bucket ?? null,
      STRIPE_SECRET_KEY: isSet(settings.stripe),
      TRUSTED_PROXIES: settings.trustedProxies.map(networkText).join(",") || null,
      policy: isSet(settings.policy),
      routingConfigurations: settings.routingConfigurations?.length ?? 0,
      rateLimits: settings.rateLimits,
      timeouts: settings.timeouts,
      headHoldMillis: settings.headHoldMillis,
      heartbeatMillis: settings.heartbeatMillis,
      fallback: settings.fallback,
      retention: settings.retention
    }
  })

const text = (duration: Duration.Duration): string => Duration.format(duration)

const isSet = (value: unknown): "set" | "not set" => (value === null ? "not set" : "set")
