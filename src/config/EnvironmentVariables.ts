import * as Config from "effect/Config"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { connectionsBounds } from "../domain/OptionIssues.ts"
import { isPostgresUrl, wrongPostgresUrl } from "../domain/PostgresUrl.ts"
import {
  ambient,
  bucket,
  claim,
  duration,
  firstOf,
  firstSecret,
  issuer,
  listenAddress,
  logLevel,
  networks,
  nonSecret,
  oneOf,
  printable,
  proxyUrl,
  region,
  secret,
  type Variable,
  webAddress,
  wholeNumber
} from "./Variable.ts"

/** Which environment variables there are, what each may hold, and which need others. */

/** The variables that may hold a vendor's key; the first that is set is taken. */
export interface VendorKeys {
  readonly id: string
  readonly env: ReadonlyArray<string>
}

export interface EnvironmentOptions {
  readonly vendors: ReadonlyArray<VendorKeys>
  /** Whether the text is a well-formed API key of this gateway, for `GATEWAY_BOOTSTRAP_KEY`. */
  readonly isApiKey: (text: string) => boolean
  readonly isMasterKey: (text: string) => boolean
}

const maxWorkers = 256
/** Who knows the secret can give credit; Stripe's have 38 characters. */
const minWebhookSecretLength = 16

export type Variables = Effect.Effect.Success<ReturnType<typeof variables>>

export const variables = ({ isApiKey, isMasterKey, vendors }: EnvironmentOptions) => {
  const masterKey = (name: string) =>
    secret(name, (text) =>
      isMasterKey(text) ? null : "must be 32 bytes in base64, such as of `openssl rand -base64 32`"
    )
  return Config.all({
    host: nonSecret("HOST", listenAddress),
    port: nonSecret("PORT", wholeNumber({ min: 0, max: 65_535 })),
    trustedProxies: nonSecret("TRUSTED_PROXIES", networks),
    dataDirectory: nonSecret("DATA_DIR", printable),
    databaseUrl: secret("DATABASE_URL", (text) => (isPostgresUrl(text) ? null : wrongPostgresUrl)),
    publicUrl: nonSecret("PUBLIC_URL", webAddress),
    masterKey: masterKey("GATEWAY_MASTER_KEY"),
    masterKeyPrevious: masterKey("GATEWAY_MASTER_KEY_PREVIOUS"),
    stripeKey: secret("STRIPE_SECRET_KEY"),
    stripeWebhook: secret("STRIPE_WEBHOOK_SECRET", (text) =>
      text.length >= minWebhookSecretLength ? null : `must have at least ${minWebhookSecretLength} characters`
    ),
    localCheckout: nonSecret("LOCAL_CHECKOUT", oneOf<"on" | "off">({ on: "on", off: "off" })),
    oidcIssuer: nonSecret("OIDC_ISSUER", issuer),
    oidcAudience: nonSecret("OIDC_AUDIENCE", printable),
    oidcClientId: nonSecret("OIDC_CLIENT_ID", printable),
    oidcClientSecret: secret("OIDC_CLIENT_SECRET"),
    oidcOperator: nonSecret("OIDC_OPERATOR", claim),
    configFile: nonSecret("GATEWAY_CONFIG", printable),
    bootstrapKey: secret("GATEWAY_BOOTSTRAP_KEY", (text) =>
      isApiKey(text)
        ? null
        : "must be an API key of the form mrg_sk_… with a right checksum, such as `keys mint` prints"
    ),
    bootstrapCredit: nonSecret(
      "GATEWAY_BOOTSTRAP_CREDIT_MICROUSD",
      wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
    ),
    simulatedProviders: nonSecret("SIMULATED_PROVIDERS", oneOf<"on" | "off">({ on: "on", off: "off" })),
    workers: nonSecret("WORKERS", wholeNumber({ min: 1, max: maxWorkers })),
    drainGrace: nonSecret("DRAIN_GRACE", duration),
    drainDelay: nonSecret("DRAIN_DELAY", duration),
    poolSize: nonSecret("DATABASE_POOL_SIZE", wholeNumber(connectionsBounds)),
    metricsToken: secret("METRICS_TOKEN"),
    logLevel: nonSecret("LOG_LEVEL", logLevel),
    otlpEndpoint: nonSecret("OTEL_EXPORTER_OTLP_ENDPOINT", webAddress),
    otlpHeaders: headers("OTEL_EXPORTER_OTLP_HEADERS"),
    otlpServiceName: nonSecret("OTEL_SERVICE_NAME", printable),
    // other programs read them too; the small letters come first, as for curl
    httpsProxy: proxyUrl(["https_proxy", "HTTPS_PROXY"]),
    httpProxy: proxyUrl(["http_proxy", "HTTP_PROXY"]),
    noProxy: firstOf([nonSecret("no_proxy", printable), nonSecret("NO_PROXY", printable)]),
    vendorKeys: Config.all(vendors.map((vendor) => firstSecret(vendor.env))),
    vendorIds: Config.succeed(vendors.map((vendor) => vendor.id)),
    bedrockToken: secret("AWS_BEARER_TOKEN_BEDROCK"),
    bedrockRegion: nonSecret("BEDROCK_REGION", region),
    awsAccessKeyId: ambient("AWS_ACCESS_KEY_ID"),
    awsSecretAccessKey: ambient("AWS_SECRET_ACCESS_KEY"),
    awsSessionToken: ambient("AWS_SESSION_TOKEN"),
    s3Bucket: nonSecret("S3_BUCKET", bucket),
    s3Endpoint: nonSecret("S3_ENDPOINT", webAddress),
    s3Region: nonSecret("S3_REGION", region),
    s3AccessKeyId: secret("S3_ACCESS_KEY_ID"),
    s3SecretAccessKey: secret("S3_SECRET_ACCESS_KEY")
  })
}

export const allOf = ({ vendorKeys, vendorIds: _, ...others }: Variables): ReadonlyArray<Variable<unknown>> => [
  ...Object.values(others),
  ...vendorKeys
]

/** Variables that must be set together. */
export const issuesOfCombinations = (all: Variables): ReadonlyArray<ConfigIssue> => {
  const needs = (because: string, ...needed: ReadonlyArray<Variable<unknown>>): ReadonlyArray<ConfigIssue> =>
    needed.flatMap(({ name, given }) => (given ? [] : [{ path: name, message: `is required with ${because}` }]))
  return [
    // The embedded database can be open in one process only.
    ...((all.workers.value ?? 1) > 1 ? needs("more than one of the WORKERS", all.databaseUrl) : []),
    ...(all.poolSize.given ? needs("DATABASE_POOL_SIZE", all.databaseUrl) : []),
    ...(all.masterKeyPrevious.given ? needs("GATEWAY_MASTER_KEY_PREVIOUS", all.masterKey) : []),
    ...(all.stripeWebhook.given ? needs("STRIPE_WEBHOOK_SECRET", all.stripeKey) : []),
    ...(all.oidcIssuer.given ? needs("OIDC_ISSUER", all.oidcClientId) : []),
    ...[all.oidcAudience, all.oidcClientId, all.oidcClientSecret, all.oidcOperator].flatMap(({ given, name }) =>
      given ? needs(name, all.oidcIssuer) : []
    ),
    ...[all.otlpHeaders, all.otlpServiceName].flatMap(({ given, name }) =>
      given ? needs(name, all.otlpEndpoint) : []
    ),
    ...(all.bedrockRegion.given && !all.bedrockToken.given
      ? needs("BEDROCK_REGION without AWS_BEARER_TOKEN_BEDROCK", all.awsAccessKeyId, all.awsSecretAccessKey)
      : []),
    ...(all.s3Bucket.given ? needs("S3_BUCKET", all.s3AccessKeyId, all.s3SecretAccessKey) : []),
    ...[all.s3Endpoint, all.s3Region, all.s3AccessKeyId, all.s3SecretAccessKey].flatMap(({ given, name }) =>
      given ? needs(name, all.s3Bucket) : []
    )
  ]
}

/** Names and values of headers; values are secret, such as a token. */
type Headers = ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>

const headers = (name: string): Config.Config<Variable<Headers>> =>
  Config.map(
    secret(name, (text) =>
      headersOf(text) === undefined ? "must have the form name=value,name=value, with values encoded as in URLs" : null
    ),
    (variable) => ({
      ...variable,
      value: (variable.value && headersOf(Redacted.value(variable.value))) ?? null
    })
  )

/** As OpenTelemetry writes them: `name=value,name=value`, the values encoded as in URLs; `undefined` where the text is not that. */
const headersOf = (text: string): Headers | undefined => {
  const headers = text.split(",").flatMap((pair) => {
    const [, name, encoded] = /^([\w-]{1,100})=([^,]+)$/.exec(pair) ?? []
    const value = encoded === undefined ? undefined : decodedValue(encoded)
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), Redacted.make(value)] as const]
  })
  return headers.length === text.split(",").length ? headers : undefined
}

const decodedValue = (encoded: string): string | undefined => {
  try {
    const value = decodeURIComponent(encoded)
    return /^[\x20-\x7e]+$/.test(value) ? value : undefined
  } catch {
    return undefined
  }
}
