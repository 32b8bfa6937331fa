import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import type { Settings } from "../../config/Settings.ts"

/** Of a setting that several variables make up, the name of each; the first one switches it on. */
type Names = {
  readonly [Key in keyof Settings]?: string | { readonly [Member in keyof NonNullable<Settings[Key]>]?: string }
}

/** Settings that only a start can change, with the names by which an operator knows them. */
const fixed = {
  host: "HOST",
  port: "PORT",
  trustedProxies: "TRUSTED_PROXIES",
  dataDirectory: "DATA_DIR",
  databaseUrl: "DATABASE_URL",
  publicUrl: "PUBLIC_URL",
  masterKey: "GATEWAY_MASTER_KEY",
  stripe: { secretKey: "STRIPE_SECRET_KEY", webhookSecret: "STRIPE_WEBHOOK_SECRET" },
  localCheckout: "LOCAL_CHECKOUT",
  oidc: {
    issuer: "OIDC_ISSUER",
    audience: "OIDC_AUDIENCE",
    clientId: "OIDC_CLIENT_ID",
    clientSecret: "OIDC_CLIENT_SECRET",
    operator: "OIDC_OPERATOR"
  },
  workers: "WORKERS",
  drainGrace: "DRAIN_GRACE",
  drainDelay: "DRAIN_DELAY",
  poolSize: "DATABASE_POOL_SIZE",
  metricsToken: "METRICS_TOKEN",
  logLevel: "LOG_LEVEL",
  otlp: {
    endpoint: "OTEL_EXPORTER_OTLP_ENDPOINT",
    headers: "OTEL_EXPORTER_OTLP_HEADERS",
    serviceName: "OTEL_SERVICE_NAME"
  },
  objectStore: {
    bucket: "S3_BUCKET",
    endpoint: "S3_ENDPOINT",
    region: "S3_REGION",
    accessKeyId: "S3_ACCESS_KEY_ID",
    secretAccessKey: "S3_SECRET_ACCESS_KEY"
  },
  proxy: { https: "HTTPS_PROXY", http: "HTTP_PROXY", noProxy: "NO_PROXY" }
} as const satisfies Names

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
      ...changed.flatMap((key) => namesOf(fixed[key], current[key], loaded[key])),
      ...(timeouts.length > 0 ? ["timeouts of connection and call in GATEWAY_CONFIG"] : [])
    ]
  }
}

/** Names what a start would change as well. */
export const warnOfStart = (needStart: Reloadable["needStart"]): Effect.Effect<void> =>
  needStart.length === 0
    ? Effect.void
    : Effect.logWarning(`a restart is needed for changes of ${needStart.join(", ")}; the old values stay active`)

/** Of the variables behind a setting that has changed, those that have. */
const namesOf = (names: string | object, before: unknown, after: unknown): ReadonlyArray<string> => {
  if (typeof names === "string") return [names]
  const all = Object.entries(names)
  const changed =
    typeof before === "object" && before !== null && typeof after === "object" && after !== null
      ? all.filter(([member]) => !isSame(Reflect.get(before, member), Reflect.get(after, member)))
      : all.slice(0, 1)
  return changed.map(([, name]) => name)
}

const isSame = (one: unknown, other: unknown): boolean => {
  if (Redacted.isRedacted(one) || Redacted.isRedacted(other)) return Equal.equals(one, other)
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other
  if (Equal.isEqual(one) || Equal.isEqual(other)) return Equal.equals(one, other)
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => isSame(Reflect.get(one, key), Reflect.get(other, key)))
}
