import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import type { RoutingRestrictions } from "../domain/Chat.ts"
import { defaultTimeouts } from "../domain/DefaultOptions.ts"
import { type ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { maxMillis } from "../domain/OptionIssues.ts"
import { issuesOf } from "./ConfigIssue.ts"
import type { ConfiguredModel, ModelPatch } from "./ConfiguredModel.ts"
import { type Environment, readEnvironment, readSecret } from "./Environment.ts"
import type { EnvironmentOptions } from "./EnvironmentVariables.ts"
import {
  type ConfigurableProtocol,
  decodeGatewayConfig,
  type GatewayConfig,
  type OutputCapField,
  type ProviderEntry
} from "./GatewayConfig.ts"
import { parseJson } from "./JsonText.ts"
import { issuesOfRules, type ValidationContext } from "./Rules.ts"
import { whyUnread } from "./UnreadFile.ts"

/** All settings of the operator, from the environment and the configuration file, with every default filled in. */
export interface Settings extends Environment {
  /** The simulated providers are on. */
  readonly simulated: boolean
  readonly providers: ReadonlyArray<ConfiguredProvider>
  /** Patches of catalog entries by model id; `null` removes the model. */
  readonly models: Readonly<Record<string, ModelPatch | null>>
  /** `null`: not in the file, and the account API manages the default project's policy. */
  readonly policy: ConfiguredPolicy | null
  /** `null`: not in the file; an empty list leaves the default project without any. */
  readonly routingConfigurations: ReadonlyArray<ConfiguredRouting> | null
  readonly rateLimits: GatewayConfig["rateLimits"]
  readonly timeouts: Timeouts
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
  readonly fallback: GatewayConfig["fallback"]
  readonly retention: GatewayConfig["retention"]
  /** The names of all environment variables that are read, those that the file names included. */
  readonly knownVariables: ReadonlyArray<string>
}

export interface ConfiguredProvider {
  readonly id: string
  readonly connection: ProviderConnection
  /** `null`: no credential is sent. */
  readonly apiKey: Redacted.Redacted | null
  /** The environment variable that holds `apiKey`; `null`: the file names none. */
  readonly apiKeyVariable: string | null
  readonly models: ReadonlyArray<ConfiguredModel>
}

/** How a configured provider is called; `null` keeps the value of the vendor or the protocol. */
export type ProviderConnection =
  | {
      readonly _tag: "Protocol"
      readonly protocol: ConfigurableProtocol
      readonly baseUrl: string
      readonly outputCapField: OutputCapField | null
      readonly billsAbortedCalls: boolean
    }
  | {
      readonly _tag: "Vendor"
      readonly vendor: string
      readonly baseUrl: string | null
      readonly outputCapField: OutputCapField | null
      readonly billsAbortedCalls: boolean | null
    }

export interface Timeouts {
  readonly connectMillis: number
  readonly firstContentMillis: number
  readonly plainAnswerMillis: number
  readonly idleMillis: number
  readonly totalMillis: number
  /** How far a large output cap extends `totalMillis`; no call takes longer. */
  readonly maxTotalMillis: number
}

/** The policy of the project "default". */
export interface ConfiguredPolicy extends RoutingRestrictions {
  readonly defaultAlpha: number | null
  readonly explorationShare: number
  readonly enableFallback: boolean
}

export interface ConfiguredRouting extends RoutingRestrictions {
  readonly enableFallback: boolean
  readonly slug: string
  readonly name: string | null
  readonly alpha: number | null
}

export type LoadOptions = EnvironmentOptions & Omit<ValidationContext, "isSet">

/** The service can call some provider by itself. */
export const hasProvider = ({ bedrock, providers, simulated, vendorKeys }: Settings): boolean =>
  simulated || providers.length > 0 || vendorKeys.size > 0 || bedrock !== null

/**
 * Where calls could go: without any provider every call would be refused. With a master key projects can bring credentials of
 * their own, which it seals.
 */
export const requireProvider = (settings: Settings): Effect.Effect<void, InvalidConfiguration> =>
  hasProvider(settings) || settings.masterKey.current !== null
    ? Effect.void
    : new InvalidConfiguration({
        issues: [
          {
            path: "SIMULATED_PROVIDERS",
            message:
              "is off, and there is no other provider: set the key of a vendor, such as OPENAI_API_KEY, add to `providers` of GATEWAY_CONFIG, or set GATEWAY_MASTER_KEY for projects with credentials of their own"
          }
        ]
      })

/** Decodes environment and file before anything else happens; fails with the issues of both. */
export const load = Effect.fn("Settings.load")(function* (options: LoadOptions) {
  const read = yield* readEnvironment(options)
  const file = read.configFile === null ? emptyFile : yield* readFile(read.configFile, options)
  const issues = [...read.issues, ...(Either.isLeft(file) ? file.left : [])]
  if (Either.isLeft(file) || issues.length > 0) {
    return yield* new InvalidConfiguration({ issues, ...(read.configFile === null ? {} : { file: read.configFile }) })
  }
  return {
    ...assembled(read.environment, read.simulatedProviders, file.right),
    knownVariables: [...read.names, ...file.right.config.providers.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? [])]
  }
})

interface LoadedFile {
  readonly config: GatewayConfig
  readonly providers: ReadonlyArray<ConfiguredProvider>
}

type FileResult = Either.Either<LoadedFile, ReadonlyArray<ConfigIssue>>

const readFile = Effect.fnUntraced(function* (path: string, options: LoadOptions) {
  const files = yield* FileSystem.FileSystem
  const text = yield* Effect.either(files.readFileString(path))
  if (Either.isLeft(text)) {
    return failed({ path: "GATEWAY_CONFIG", message: `names a file that ${whyUnread(text.left)}` })
  }
  const json = parseJson(text.right)
  if (Either.isLeft(json)) return failed(...json.left)
  const secrets = yield* secretsOf(json.right)
  const decoded = Either.mapLeft(decodeGatewayConfig(json.right), (error) => issuesOf(error.issue))
  const issues = [
    ...(Either.isLeft(decoded) ? decoded.left : []),
    ...issuesOfRules(json.right, { ...options, isSet: (variable) => secrets.has(variable) })
  ]
  if (Either.isLeft(decoded) || issues.length > 0) return failed(...issues)
  return loaded(decoded.right, secrets)
})

/** Reads the variables that the file names before the file is validated, so that an unset one is reported with all other issues. */
const secretsOf = Effect.fnUntraced(function* (file: unknown) {
  const found = new Map<string, Redacted.Redacted>()
  for (const name of namedVariables(file)) {
    const value = yield* readSecret(name)
    if (value !== null) found.set(name, value)
  }
  return found
})

const namedVariables = (file: unknown): ReadonlySet<string> => {
  const providers = field(file, "providers")
  const names = (Array.isArray(providers) ? providers : []).map((provider: unknown) => field(provider, "apiKeyEnv"))
  return new Set(names.flatMap((name) => (typeof name === "string" ? [name] : [])))
}

const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined

const failed = (...issues: ReadonlyArray<ConfigIssue>): FileResult => Either.left(issues)

const loaded = (config: GatewayConfig, secrets: ReadonlyMap<string, Redacted.Redacted>): FileResult =>
  Either.right({
    config,
    providers: config.providers.map((entry) => ({
      id: entry.id,
      connection: connectionOf(entry),
      apiKey: secrets.get(entry.apiKeyEnv ?? "") ?? null,
      apiKeyVariable: entry.apiKeyEnv ?? null,
      models: entry.models
    }))
  })

const emptyFile: FileResult = Either.map(
  Either.mapLeft(decodeGatewayConfig({}), (error) => issuesOf(error.issue)),
  (config) => ({ config, providers: [] })
)

const connectionOf = (entry: ProviderEntry): ProviderConnection => {
  if (entry.vendor !== undefined) {
    return {
      _tag: "Vendor",
      vendor: entry.vendor,
      baseUrl: entry.baseUrl ?? null,
      outputCapField: entry.outputCapField ?? null,
      billsAbortedCalls: entry.billsAbortedCalls ?? null
    }
  }
  if (entry.protocol === undefined || entry.baseUrl === undefined) {
    throw new Error("a provider without vendor, protocol and base URL passed the rules")
  }
  return {
    _tag: "Protocol",
    protocol: entry.protocol,
    baseUrl: entry.baseUrl,
    outputCapField: entry.outputCapField ?? null,
    billsAbortedCalls: entry.billsAbortedCalls ?? true
  }
}

/** The first content of a non-streaming response is the complete response. */
const defaultNonStreamingMillis = (firstContentMillis: number): number => Math.min(4 * firstContentMillis, maxMillis)

const assembled = (
  environment: Environment,
  simulatedProviders: "on" | "off" | null,
  { config, providers }: LoadedFile
): Omit<Settings, "knownVariables"> => ({
  ...environment,
  simulated: isSimulated(environment, simulatedProviders, providers),
  providers,
  models: config.models,
  policy: config.policy === undefined ? null : policyOf(config.policy),
  routingConfigurations: config.routingConfigurations?.map(routingOf) ?? null,
  rateLimits: config.rateLimits,
  timeouts: {
    ...config.timeouts,
    plainAnswerMillis:
      config.timeouts.plainAnswerMillis ?? defaultNonStreamingMillis(config.timeouts.firstContentMillis),
    totalMillis: config.timeouts.totalMillis ?? defaultTimeouts.totalMillis,
    maxTotalMillis: config.timeouts.totalMillis ?? defaultTimeouts.maxTotalMillis
  },
  headHoldMillis: config.headHoldMillis,
  heartbeatMillis: config.heartbeatMillis,
  fallback: config.fallback,
  retention: config.retention
})

/** A gateway without any provider uses the simulated ones, unless configured otherwise. */
const isSimulated = (
  environment: Environment,
  configured: "on" | "off" | null,
  providers: ReadonlyArray<ConfiguredProvider>
): boolean => {
  if (configured !== null) return configured === "on"
  return environment.vendorKeys.size === 0 && environment.bedrock === null && providers.length === 0
}

const policyOf = (entry: NonNullable<GatewayConfig["policy"]>): ConfiguredPolicy => ({
  models: { allow: entry.allowed_models, deny: entry.excluded_models },
  providers: { allow: entry.allowed_providers, deny: entry.excluded_providers },
  maxInputPriceMicroUsdPerMillion: entry.max_input_price_microusd_per_million,
  maxOutputPriceMicroUsdPerMillion: entry.max_output_price_microusd_per_million,
  defaultAlpha: entry.default_alpha,
  explorationShare: entry.exploration_share,
  enableFallback: entry.enable_fallback
})

const routingOf = (entry: NonNullable<GatewayConfig["routingConfigurations"]>[number]): ConfiguredRouting => ({
  slug: entry.slug,
  name: entry.name,
  models: { allow: entry.models, deny: [] },
  providers: { allow: entry.providers, deny: [] },
  maxInputPriceMicroUsdPerMillion: entry.max_input_price_microusd_per_million,
  maxOutputPriceMicroUsdPerMillion: entry.max_output_price_microusd_per_million,
  alpha: entry.alpha,
  enableFallback: entry.enable_fallback
})
