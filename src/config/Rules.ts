import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import type { JsonPath } from "../domain/JsonPath.ts"
import {
  type EffortModel,
  issuesOfEffect,
  issuesOfModel,
  type ModelLimits,
  repeated,
  type WithoutEffect
} from "../domain/ModelRules.ts"
import { nearest } from "../domain/Nearest.ts"
import { list, object, type Raw, text } from "../domain/RawJson.ts"
import { issueAt } from "./ConfigIssue.ts"
import { requiredFields } from "./ConfiguredModel.ts"

/** What the file may refer to or must not redefine. */
export interface ValidationContext {
  /** Provider ids that are taken: those of all built-in vendors and of the simulated providers, usable or not. */
  readonly builtInIds: ReadonlyArray<string>
  /** Values of `vendor`. */
  readonly vendorIds: ReadonlyArray<string>
  /** Vendors that have no base URL of their own. */
  readonly vendorIdsWithoutBaseUrl: ReadonlyArray<string>
  /** Ids of all models of the built-in providers, usable or not. */
  readonly catalogModelIds: ReadonlySet<string>
  /** The protocol of each vendor. */
  readonly vendorProtocols: ReadonlyMap<string, string>
  /** By protocol: settings of a provider and its models that do nothing there. */
  readonly withoutEffect: Readonly<Record<string, WithoutEffect>>
  /** Efforts that the provider of the model cannot be sent, as another one would be in their place. */
  readonly unsentEfforts: (model: EffortModel & { readonly protocol: string }) => ReadonlyArray<string>
  readonly isSet: (variable: string) => boolean
}

/**
 * The rules that concern more than one place of the file. They read the file as it was parsed, not as it was decoded, so that
 * they are checked even when it does not decode; a value of the wrong shape is skipped here.
 */
export const issuesOfRules = (file: unknown, context: ValidationContext): ReadonlyArray<ConfigIssue> => {
  const root = object(file)
  const providers = list(root["providers"]).map(object)
  const known = new Set([...context.catalogModelIds, ...providers.flatMap((provider) => modelIds(provider))])
  const knownProviders = new Set([...context.builtInIds, ...providers.flatMap((provider) => text(provider["id"]))])
  const protocolOfModel = (id: string) => {
    const own = idOfProvider(id)
    const provider = providers.find((one) => one["id"] === own)
    return provider === undefined ? context.vendorProtocols.get(own) : protocolOf(provider, context)
  }
  return [
    ...repeated(providers, "id", ["providers"]),
    ...providers.flatMap((provider, index) => issuesOfProvider(provider, ["providers", index], context)),
    ...repeatedModels(providers),
    ...Object.entries(object(root["models"])).flatMap(([id, patch]) =>
      issuesOfPatch(id, patch, ["models", id], known, knownProviders, limitsOf(context, protocolOfModel(id)))
    ),
    ...repeated(list(root["routingConfigurations"]).map(object), "slug", ["routingConfigurations"])
  ]
}

const issuesOfProvider = (provider: Raw, at: JsonPath, context: ValidationContext): ReadonlyArray<ConfigIssue> => {
  const limits = limitsOf(context, protocolOf(provider, context))
  const issues: Array<ConfigIssue> = [...issuesOfEffect(provider, at, limits)]
  const { id, protocol, vendor, baseUrl, apiKeyEnv } = provider
  if (typeof id === "string" && context.builtInIds.includes(id)) {
    issues.push(issueAt([...at, "id"], "is the id of a built-in provider"))
  }
  if ((protocol === undefined) === (vendor === undefined)) {
    issues.push(issueAt(at, "needs exactly one of protocol and vendor"))
  }
  if (protocol !== undefined && vendor === undefined && baseUrl === undefined) {
    issues.push(issueAt([...at, "baseUrl"], "is required with a protocol"))
  }
  if (typeof vendor === "string" && baseUrl === undefined && context.vendorIdsWithoutBaseUrl.includes(vendor)) {
    issues.push(issueAt([...at, "baseUrl"], `is required with the vendor ${vendor}`))
  }
  if (typeof vendor === "string" && !context.vendorIds.includes(vendor)) {
    issues.push(issueAt([...at, "vendor"], `must be one of ${context.vendorIds.join(", ")}`))
  }
  if (typeof apiKeyEnv === "string" && !context.isSet(apiKeyEnv)) {
    issues.push(
      issueAt(
        [...at, "apiKeyEnv"],
        "names an environment variable that is not set, or holds nothing that a header can carry"
      )
    )
  }
  list(provider["models"]).forEach((entry, index) => {
    const path = [...at, "models", index]
    const model = object(entry)
    if (typeof id === "string" && typeof model["id"] === "string" && !model["id"].startsWith(`${id}/`)) {
      issues.push(issueAt([...path, "id"], "must start with the id of its provider and a slash"))
    }
    issues.push(...issuesOfModel(model, path, text(model["id"])[0] ?? "", limits))
  })
  return issues
}

const protocolOf = ({ protocol, vendor }: Raw, context: ValidationContext): string | undefined =>
  typeof protocol === "string" ? protocol : typeof vendor === "string" ? context.vendorProtocols.get(vendor) : undefined

const limitsOf = (context: ValidationContext, protocol: string | undefined): ModelLimits => ({
  fields: [],
  capabilities: [],
  ...context.withoutEffect[protocol ?? ""],
  unsentEfforts: (model) => (protocol === undefined ? [] : context.unsentEfforts({ ...model, protocol }))
})

const idOfProvider = (modelId: string): string => modelId.slice(0, Math.max(0, modelId.indexOf("/")))

const issuesOfPatch = (
  id: string,
  patch: unknown,
  at: JsonPath,
  known: ReadonlySet<string>,
  knownProviders: ReadonlySet<string>,
  limits: ModelLimits
): ReadonlyArray<ConfigIssue> => {
  if (known.has(id)) return issuesOfModel(object(patch), at, id, limits)
  const near = nearest(id, known)
  const meant = near === undefined ? "" : `; did you mean ${near}?`
  if (patch === null) return [issueAt(at, `is not a model of the catalog${meant}`)]
  const missing = requiredFields.filter((field) => object(patch)[field] === undefined)
  if (!knownProviders.has(idOfProvider(id))) {
    return [issueAt(at, `is not a model of the catalog, and its provider is not known either${meant}`)]
  }
  if (missing.length > 0)
    return [issueAt(at, `is not a model of the catalog; a new one needs ${missing.join(", ")}${meant}`)]
  return issuesOfModel(object(patch), at, id, limits)
}

/** Once per provider entry: models of different providers differ by their prefix. */
const repeatedModels = (providers: ReadonlyArray<Raw>): ReadonlyArray<ConfigIssue> =>
  providers.flatMap((provider, index) =>
    repeated(list(provider["models"]).map(object), "id", ["providers", index, "models"])
  )

const modelIds = (provider: Raw): ReadonlyArray<string> =>
  list(provider["models"]).flatMap((model) => text(object(model)["id"]))
