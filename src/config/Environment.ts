import { isIPv4 } from "node:net"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import type * as Redacted from "effect/Redacted"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import type { IpNetwork } from "../domain/IpNetwork.ts"
import { type MicroUsd, microUsd } from "../domain/Money.ts"
import {
  allOf,
  type EnvironmentOptions,
  issuesOfCombinations,
  type Variables,
  variables
} from "./EnvironmentVariables.ts"
import { ambient } from "./Variable.ts"

/** All environment variables, decoded. `null` is not set. */
export interface Environment {
  readonly host: string
  readonly port: number
  /** Of a request that one of them sends on, the client is the one that `X-Forwarded-For` names. */
  readonly trustedProxies: ReadonlyArray<IpNetwork>
  readonly dataDirectory: string
  /** Names a PostgreSQL server; without it the embedded database is used. */
  readonly databaseUrl: Redacted.Redacted | null
  /** Where browsers reach the service, without a slash at its end; `null`: at the address that it listens on. */
  readonly publicUrl: string | null
  readonly masterKey: MasterKeys
  readonly stripe: StripeAccess | null
  /** LOCAL_CHECKOUT; `null`: as the providers are. */
  readonly localCheckout: "on" | "off" | null
  /** Where people sign in; `null`: by links of the gateway. */
  readonly oidc: Oidc | null
  readonly bootstrap: Bootstrap
  readonly workers: number
  /** How long running calls may go on after the first signal to stop. */
  readonly drainGrace: Duration.Duration
  /** How long everything is still served before that, while the node says that it is not ready. */
  readonly drainDelay: Duration.Duration
  /** Connections to PostgreSQL for calls, of each worker. */
  readonly poolSize: number
  readonly metricsToken: Redacted.Redacted | null
  readonly logLevel: LogLevel.LogLevel
  /** Where spans and metrics are sent by OTLP; `null`: nowhere. */
  readonly otlp: OtlpExport | null
  /** Through what requests leave that go to other hosts. */
  readonly proxy: OutgoingProxy
  /** Keys of built-in vendors, by vendor id; those without one are absent. */
  readonly vendorKeys: ReadonlyMap<string, Redacted.Redacted>
  /** The variables that hold `vendorKeys`, by vendor id. */
  readonly vendorVariables: ReadonlyMap<string, string>
  readonly bedrock: Bedrock | null
  /** Where the images of conversations are; `null`: below `dataDirectory`. */
  readonly objectStore: ObjectStore | null
}

/** HTTP proxies, `null`: none; `noProxy` lists what is reached directly. */
export interface OutgoingProxy {
  readonly https: Redacted.Redacted | null
  readonly http: Redacted.Redacted | null
  readonly noProxy: string | null
}

/** A bucket of S3, or of a store that is compatible with it; ambient AWS variables are not used. */
export interface ObjectStore {
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
}

/** Keys of 32 bytes in base64. */
export interface MasterKeys {
  /** Seals what must be readable again; without one the embedded database's directory has one. */
  readonly current: Redacted.Redacted | null
  /** Opens what was sealed before the key was changed. */
  readonly previous: Redacted.Redacted | null
}

/** Stripe, for payments. */
export interface StripeAccess {
  readonly secretKey: Redacted.Redacted
  /** `null`: there is no webhook, and payments are credited when their buyer asks for their state. */
  readonly webhookSecret: Redacted.Redacted | null
  /** Of a stand-in for tests; `null`: Stripe's own. */
  readonly apiUrl: string | null
}

/** An OpenTelemetry collector that takes OTLP over HTTP. */
export interface OtlpExport {
  /** Without a slash at its end; signals go to `/v1/traces` and `/v1/metrics` below it. */
  readonly endpoint: string
  /** Sent with every export, such as a token. */
  readonly headers: ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>
  readonly serviceName: string
}

/** An OpenID provider. */
export interface Oidc {
  /** As it stands in `iss`, to the letter. */
  readonly issuer: string
  readonly audience: string
  readonly clientId: string
  /** `null`: a public client. */
  readonly clientSecret: Redacted.Redacted | null
  /** The claim that makes an operator; `null`: nobody is one. */
  readonly operator: { readonly claim: string; readonly value: string } | null
}

export interface Bootstrap {
  readonly key: Redacted.Redacted | null
  readonly creditMicroUsd: MicroUsd
  /** Names of the `GATEWAY_BOOTSTRAP_*` variables that were set: after the first start they have no effect, which is logged. */
  readonly given: ReadonlyArray<string>
}

/** Bedrock is used only when its own variables are set; ambient AWS variables alone never switch it on. */
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

/** `environment` may be used only when there are no issues. */
export interface Reading {
  readonly environment: Environment
  readonly configFile: string | null
  readonly simulatedProviders: "on" | "off" | null
  readonly issues: ReadonlyArray<ConfigIssue>
  /** The names of all variables that are read. */
  readonly names: ReadonlyArray<string>
}

const defaultHost = "127.0.0.1"
const defaultCreditMicroUsd = 25_000_000
/** Agent turns with tools take minutes; ending them early costs more than waiting. */
const defaultDrainGrace = Duration.seconds(600)
/** Behind a balancer: what its checks take to notice that a node is not ready. */
const defaultDrainDelay = Duration.seconds(5)
/** Of one worker alone; the ledger's statements are batched, so that more connections would only wait for each other. */
const maxDefaultPoolSize = 10
/** A statement of the ledger can hold two connections, for accounts that are locked; the others need some as well. */
const minDefaultPoolSize = 4
/** PostgreSQL's own default leaves 97 connections to all nodes. */
const defaultPoolSize = (workers: number): number =>
  Math.max(minDefaultPoolSize, Math.min(maxDefaultPoolSize, Math.floor((3 * maxDefaultPoolSize) / workers)))
const defaultBedrockRegion = "us-east-1"
const defaultS3Region = "us-east-1"

/** Whether only this machine can reach a service that listens there. */
export const isLoopbackAddress = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))

export const readEnvironment = (options: EnvironmentOptions): Effect.Effect<Reading> =>
  Effect.map(Effect.orDie(variables(options)), (all) => ({
    environment: assembled(all),
    configFile: all.configFile.value,
    simulatedProviders: all.simulatedProviders.value,
    issues: [...allOf(all).flatMap((variable) => variable.issues), ...issuesOfCombinations(all)],
    names: allOf(all).flatMap((variable) => variable.names)
  }))

/** A secret from the variable that the configuration file names; `null` when it is not set or not a valid header value. */
export const readSecret = (name: string): Effect.Effect<Redacted.Redacted | null> =>
  Effect.map(Effect.orDie(ambient(name)), (variable) => variable.value)

const assembled = (all: Variables): Environment => ({
  host: all.host.value ?? defaultHost,
  port: all.port.value ?? 8080,
  trustedProxies: all.trustedProxies.value ?? [],
  dataDirectory: all.dataDirectory.value ?? ".data",
  databaseUrl: all.databaseUrl.value,
  publicUrl: all.publicUrl.value,
  masterKey: { current: all.masterKey.value, previous: all.masterKeyPrevious.value },
  stripe:
    all.stripeKey.value === null
      ? null
      : { secretKey: all.stripeKey.value, webhookSecret: all.stripeWebhook.value, apiUrl: null },
  localCheckout: all.localCheckout.value,
  oidc: oidcOf(all),
  bootstrap: {
    key: all.bootstrapKey.value,
    creditMicroUsd: microUsd(all.bootstrapCredit.value ?? defaultCreditMicroUsd),
    given: [all.bootstrapKey, all.bootstrapCredit].flatMap(({ name, given }) => (given ? [name] : []))
  },
  workers: all.workers.value ?? 1,
  drainGrace: all.drainGrace.value ?? defaultDrainGrace,
  drainDelay:
    all.drainDelay.value ?? (isLoopbackAddress(all.host.value ?? defaultHost) ? Duration.zero : defaultDrainDelay),
  poolSize: all.poolSize.value ?? defaultPoolSize(all.workers.value ?? 1),
  metricsToken: all.metricsToken.value,
  logLevel: all.logLevel.value ?? LogLevel.Info,
  otlp:
    all.otlpEndpoint.value === null
      ? null
      : {
          endpoint: all.otlpEndpoint.value,
          headers: all.otlpHeaders.value ?? [],
          serviceName: all.otlpServiceName.value ?? "model-routing-gateway"
        },
  proxy: { https: all.httpsProxy.value, http: all.httpProxy.value, noProxy: all.noProxy.value },
  vendorKeys: new Map(
    all.vendorIds.flatMap((id, index) => {
      const key = all.vendorKeys[index]?.value ?? null
      return key === null ? [] : [[id, key] as const]
    })
  ),
  vendorVariables: new Map(
    all.vendorIds.flatMap((id, index) => {
      const variable = all.vendorKeys[index]
      return variable === undefined || variable.value === null ? [] : [[id, variable.name] as const]
    })
  ),
  bedrock: bedrockOf(all),
  objectStore: objectStoreOf(all)
})

const objectStoreOf = (all: Variables): ObjectStore | null => {
  const [bucket, accessKeyId, secretAccessKey] = [
    all.s3Bucket.value,
    all.s3AccessKeyId.value,
    all.s3SecretAccessKey.value
  ]
  if (bucket === null || accessKeyId === null || secretAccessKey === null) return null
  const region = all.s3Region.value ?? defaultS3Region
  const endpoint = all.s3Endpoint.value ?? `https://s3.${region}.amazonaws.com`
  return { endpoint, region, bucket, accessKeyId, secretAccessKey }
}

const bedrockOf = (all: Variables): Bedrock | null => {
  const region = all.bedrockRegion.value ?? defaultBedrockRegion
  const token = all.bedrockToken.value
  if (token !== null) return { region, auth: { _tag: "Bearer", token } }
  const [accessKeyId, secretAccessKey] = [all.awsAccessKeyId.value, all.awsSecretAccessKey.value]
  if (all.bedrockRegion.value === null || accessKeyId === null || secretAccessKey === null) return null
  return { region, auth: { _tag: "Signature", accessKeyId, secretAccessKey, sessionToken: all.awsSessionToken.value } }
}

const oidcOf = (all: Variables): Oidc | null => {
  const [issuer, clientId] = [all.oidcIssuer.value, all.oidcClientId.value]
  if (issuer === null || clientId === null) return null
  return {
    issuer,
    clientId,
    audience: all.oidcAudience.value ?? clientId,
    clientSecret: all.oidcClientSecret.value,
    operator: all.oidcOperator.value
  }
}
