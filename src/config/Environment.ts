import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import type * as Redacted from "effect/Redacted"
import { type MicroUsd, microUsd } from "../domain/Money.ts"
import type { Fault } from "./Fault.ts"
import {
  ambient,
  duration,
  firstSecret,
  httpUrl,
  logLevel,
  oneOf,
  plain,
  printable,
  region,
  secret,
  type Variable,
  whole
} from "./Variable.ts"

/** Everything that the environment says, whole and decoded. `null` is not set. */
export interface Environment {
  readonly host: string
  readonly port: number
  readonly dataDirectory: string
  /** Names a PostgreSQL server; without it the embedded database is used. */
  readonly databaseUrl: Redacted.Redacted | null
  readonly bootstrap: Bootstrap
  readonly masterKey: Redacted.Redacted | null
  readonly workers: number
  /** How long running calls may go on after the first signal to stop. */
  readonly drainGrace: Duration.Duration
  readonly oidc: { readonly issuer: string; readonly audience: string | null } | null
  readonly stripe: { readonly secretKey: Redacted.Redacted; readonly webhookSecret: Redacted.Redacted } | null
  readonly objects: ObjectStore | null
  readonly metricsToken: Redacted.Redacted | null
  readonly logLevel: LogLevel.LogLevel
  readonly otlpEndpoint: string | null
  /** Keys of built-in vendors, by vendor id; those without one are absent. */
  readonly vendorKeys: ReadonlyMap<string, Redacted.Redacted>
  readonly bedrock: Bedrock | null
}

export interface Bootstrap {
  readonly key: Redacted.Redacted | null
  readonly creditMicroUsd: MicroUsd
  /** Which `GATEWAY_BOOTSTRAP_*` variables were set, to say so where they come too late. */
  readonly given: ReadonlyArray<string>
}

export interface ObjectStore {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
}

/** Bedrock is only used when it is asked for by its own variables; ambient AWS ones alone never switch it on. */
export interface Bedrock {
  readonly region: string
  readonly auth:
    | { readonly _tag: "Bearer"; readonly token: Redacted.Redacted }
    | {
        readonly _tag: "Signature"
        readonly accessKeyId: Redacted.Redacted
        readonly secretAccessKey: Redacted.Redacted
        readonly sessionToken: Redacted.Redacted | null
      }
}

/** The variables that may hold a vendor's key; the first that is set is taken. */
export interface VendorKeys {
  readonly id: string
  readonly env: ReadonlyArray<string>
}

export interface EnvironmentOptions {
  readonly vendors: ReadonlyArray<VendorKeys>
  /** Tells a well-formed API key of this gateway, for `GATEWAY_BOOTSTRAP_KEY`. */
  readonly isApiKey: (text: string) => boolean
}

/** What was read: `environment` is only to be used when there is no fault. */
export interface Reading {
  readonly environment: Environment
  readonly configFile: string | null
  readonly simulatedProviders: "on" | "off" | null
  readonly faults: ReadonlyArray<Fault>
}

const usualCreditMicroUsd = 25_000_000
/** Long tool-using turns take minutes; cutting them short costs more than waiting. */
const usualDrainGrace = Duration.seconds(600)
const mostWorkers = 256
const usualBedrockRegion = "us-east-1"
const usualObjectRegion = "auto"

export const readEnvironment = (options: EnvironmentOptions): Effect.Effect<Reading> =>
  Effect.map(Effect.orDie(variables(options)), (all) => ({
    environment: assembled(all),
    configFile: all.configFile.value,
    simulatedProviders: all.simulatedProviders.value,
    faults: [...allOf(all).flatMap((variable) => variable.faults), ...faultsOfPairs(all)]
  }))

/** A secret under a name that the configuration file gives; `null` when it is not set or could not be sent. */
export const readSecret = (name: string): Effect.Effect<Redacted.Redacted | null> =>
  Effect.map(Effect.orDie(ambient(name)), (variable) => variable.value)

/** A URL without a host, for a socket, is one to the driver. */
const isPostgresUrl = (text: string): boolean =>
  /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text.replace("@/", "@localhost/"))

type Variables = Effect.Effect.Success<ReturnType<typeof variables>>

const variables = ({ vendors, isApiKey }: EnvironmentOptions) =>
  Config.all({
    host: plain("HOST", printable),
    port: plain("PORT", whole(0, 65_535)),
    dataDirectory: plain("DATA_DIR", printable),
    databaseUrl: secret("DATABASE_URL", (text) =>
      isPostgresUrl(text) ? null : "must be a URL of the form postgres://user:password@host:port/database"
    ),
    configFile: plain("GATEWAY_CONFIG", printable),
    bootstrapKey: secret("GATEWAY_BOOTSTRAP_KEY", (text) =>
      isApiKey(text) ? null : "must be an API key of the form mrg_sk_… with a right checksum"
    ),
    bootstrapCredit: plain("GATEWAY_BOOTSTRAP_CREDIT_MICROUSD", whole(0, Number.MAX_SAFE_INTEGER)),
    masterKey: secret("GATEWAY_MASTER_KEY"),
    simulatedProviders: plain("SIMULATED_PROVIDERS", oneOf<"on" | "off">({ on: "on", off: "off" })),
    workers: plain("WORKERS", whole(1, mostWorkers)),
    drainGrace: plain("DRAIN_GRACE", duration),
    oidcIssuer: plain("OIDC_ISSUER", httpUrl),
    oidcAudience: plain("OIDC_AUDIENCE", printable),
    stripeSecretKey: secret("STRIPE_SECRET_KEY"),
    stripeWebhookSecret: secret("STRIPE_WEBHOOK_SECRET"),
    s3Endpoint: plain("S3_ENDPOINT", httpUrl),
    s3Bucket: plain("S3_BUCKET", printable),
    s3Region: plain("S3_REGION", printable),
    s3AccessKeyId: plain("S3_ACCESS_KEY_ID", printable),
    s3SecretAccessKey: secret("S3_SECRET_ACCESS_KEY"),
    metricsToken: secret("METRICS_TOKEN"),
    logLevel: plain("LOG_LEVEL", logLevel),
    otlpEndpoint: plain("OTEL_EXPORTER_OTLP_ENDPOINT", httpUrl),
    vendorKeys: Config.all(vendors.map((vendor) => firstSecret(vendor.env))),
    vendorIds: Config.succeed(vendors.map((vendor) => vendor.id)),
    bedrockToken: secret("AWS_BEARER_TOKEN_BEDROCK"),
    bedrockRegion: plain("BEDROCK_REGION", region),
    awsAccessKeyId: ambient("AWS_ACCESS_KEY_ID"),
    awsSecretAccessKey: ambient("AWS_SECRET_ACCESS_KEY"),
    awsSessionToken: ambient("AWS_SESSION_TOKEN")
  })

const allOf = ({ vendorKeys, vendorIds: _, ...others }: Variables): ReadonlyArray<Variable<unknown>> => [
  ...Object.values(others),
  ...vendorKeys
]

/** What only makes sense together. */
const faultsOfPairs = (all: Variables): ReadonlyArray<Fault> => {
  const needs = (because: string, ...needed: ReadonlyArray<Variable<unknown>>): ReadonlyArray<Fault> =>
    needed.flatMap(({ name, given }) => (given ? [] : [{ path: name, message: `is required with ${because}` }]))
  const objects = [all.s3Endpoint, all.s3Bucket, all.s3AccessKeyId, all.s3SecretAccessKey]
  return [
    ...(all.stripeSecretKey.given ? needs("STRIPE_SECRET_KEY", all.stripeWebhookSecret) : []),
    ...(all.stripeWebhookSecret.given ? needs("STRIPE_WEBHOOK_SECRET", all.stripeSecretKey) : []),
    ...(all.oidcAudience.given ? needs("OIDC_AUDIENCE", all.oidcIssuer) : []),
    ...([...objects, all.s3Region].some((one) => one.given) ? needs("the other S3_ variables", ...objects) : []),
    // the embedded database is open in one process alone
    ...((all.workers.value ?? 1) > 1 ? needs("more than one of the WORKERS", all.databaseUrl) : []),
    ...(all.bedrockRegion.given && !all.bedrockToken.given
      ? needs("BEDROCK_REGION without AWS_BEARER_TOKEN_BEDROCK", all.awsAccessKeyId, all.awsSecretAccessKey)
      : [])
  ]
}

const assembled = (all: Variables): Environment => ({
  host: all.host.value ?? "127.0.0.1",
  port: all.port.value ?? 8080,
  dataDirectory: all.dataDirectory.value ?? ".data",
  databaseUrl: all.databaseUrl.value,
  bootstrap: {
    key: all.bootstrapKey.value,
    creditMicroUsd: microUsd(all.bootstrapCredit.value ?? usualCreditMicroUsd),
    given: [all.bootstrapKey, all.bootstrapCredit].flatMap(({ name, given }) => (given ? [name] : []))
  },
  masterKey: all.masterKey.value,
  workers: all.workers.value ?? 1,
  drainGrace: all.drainGrace.value ?? usualDrainGrace,
  oidc: all.oidcIssuer.value === null ? null : { issuer: all.oidcIssuer.value, audience: all.oidcAudience.value },
  stripe: stripeOf(all),
  objects: objectsOf(all),
  metricsToken: all.metricsToken.value,
  logLevel: all.logLevel.value ?? LogLevel.Info,
  otlpEndpoint: all.otlpEndpoint.value,
  vendorKeys: new Map(
    all.vendorIds.flatMap((id, index) => {
      const key = all.vendorKeys[index]?.value ?? null
      return key === null ? [] : [[id, key] as const]
    })
  ),
  bedrock: bedrockOf(all)
})

const stripeOf = (all: Variables): Environment["stripe"] => {
  const [secretKey, webhookSecret] = [all.stripeSecretKey.value, all.stripeWebhookSecret.value]
  return secretKey === null || webhookSecret === null ? null : { secretKey, webhookSecret }
}

const objectsOf = (all: Variables): ObjectStore | null => {
  const [endpoint, bucket] = [all.s3Endpoint.value, all.s3Bucket.value]
  const [accessKeyId, secretAccessKey] = [all.s3AccessKeyId.value, all.s3SecretAccessKey.value]
  if (endpoint === null || bucket === null || accessKeyId === null || secretAccessKey === null) return null
  return { endpoint, bucket, region: all.s3Region.value ?? usualObjectRegion, accessKeyId, secretAccessKey }
}

const bedrockOf = (all: Variables): Bedrock | null => {
  const region = all.bedrockRegion.value ?? usualBedrockRegion
  const token = all.bedrockToken.value
  if (token !== null) return { region, auth: { _tag: "Bearer", token } }
  const [accessKeyId, secretAccessKey] = [all.awsAccessKeyId.value, all.awsSecretAccessKey.value]
  if (all.bedrockRegion.value === null || accessKeyId === null || secretAccessKey === null) return null
  return { region, auth: { _tag: "Signature", accessKeyId, secretAccessKey, sessionToken: all.awsSessionToken.value } }
}
