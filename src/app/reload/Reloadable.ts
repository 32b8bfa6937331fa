import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import type { Settings } from "../../config/Settings.ts"

/** Settings that only a start can change, with the names by which an operator knows them. */
const fixed = {
  host: "HOST",
  port: "PORT",
  trustedProxies: "TRUSTED_PROXIES",
  dataDirectory: "DATA_DIR",
  databaseUrl: "DATABASE_URL",
  publicUrl: "PUBLIC_URL",
  masterKey: "GATEWAY_MASTER_KEY",
  stripe: "STRIPE_SECRET_KEY",
  localCheckout: "LOCAL_CHECKOUT",
  oidc: "OIDC_ISSUER",
  workers: "WORKERS",
  drainGrace: "DRAIN_GRACE",
  drainDelay: "DRAIN_DELAY",
  poolSize: "DATABASE_POOL_SIZE",
  metricsToken: "METRICS_TOKEN",
  logLevel: "LOG_LEVEL",
  otlp: "OTEL_EXPORTER_OTLP_ENDPOINT",
  objectStore: "S3_BUCKET",
  proxy: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY"
} as const satisfies Partial<Record<keyof Settings, string>>

/** Of the timeouts, those on which more depends than the calls themselves: the age at which holds of dead calls expire. */
const fixedTimeouts = ["connectMillis", "totalMillis", "maxTotalMillis"] as const

/** What is to be active after a reload, and the names of what a start would change as well. */
export interface Reloadable {
  readonly next: Settings
  readonly needStart: ReadonlyArray<string>
}

export const reloadable = (current: Settings, loaded: Settings): Reloadable => {
  const changed = (Object.keys(fixed) as ReadonlyArray<keyof typeof fixed>).filter(
    (key) => !isSame(current[key], loaded[key])
  )
  const timeouts = fixedTimeouts.filter((key) => current.timeouts[key] !== loaded.timeouts[key])
  const kept = Object.fromEntries(Object.keys(fixed).map((key) => [key, Reflect.get(current, key)]))
  return {
    next: {
      ...loaded,
      ...kept,
      timeouts: {
        ...loaded.timeouts,
        ...Object.fromEntries(fixedTimeouts.map((key) => [key, current.timeouts[key]]))
      },
      // it acts on an empty database only
      bootstrap: current.bootstrap
    },
    needStart: [
      ...changed.map((key) => fixed[key]),
      ...(timeouts.length > 0 ? ["timeouts of connection and call in GATEWAY_CONFIG"] : [])
    ]
  }
}

const isSame = (one: unknown, other: unknown): boolean => {
  if (Redacted.isRedacted(one) || Redacted.isRedacted(other)) return Equal.equals(one, other)
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other
  if (Equal.isEqual(one) || Equal.isEqual(other)) return Equal.equals(one, other)
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => isSame(Reflect.get(one, key), Reflect.get(other, key)))
}
