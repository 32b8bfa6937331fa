import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import type { JsonPath } from "../domain/JsonPath.ts"
import { providerOf } from "../domain/Model.ts"
import {
  type EffortModel,
  issuesOfEffect,
  issuesOfModel,
  issuesOfPatchedId,
  type ModelLimits,
  type PatchTargets,
  repeated,
  type WithoutEffect
} from "../domain/ModelRules.ts"
import { list, object, type Raw, text } from "../domain/RawJson.ts"
import { issueAt } from "./ConfigIssue.ts"

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
  const targets: PatchTargets = {
    models: new Set([...context.catalogModelIds, ...providers.flatMap((provider) => modelIds(provider))]),
    providers: new Set([...context.vendorIds, ...providers.flatMap((provider) => text(provider["id"]))]),
    providersWithFixedModels: new Set(context.builtInIds.filter((id) => !context.vendorIds.includes(id)))
  }
  const protocolOfModel = (id: string) => {
    const own = providerOf(id)
    const provider = providers.find((one) => one["id"] === own)
    return provider === undefined ? context.vendorProtocols.get(own) : protocolOf(provider, context)
  }
  return [
    ...repeated(providers, "id", ["providers"]),
    ...providers.flatMap((provider, index) => issuesOfProvider(provider, ["providers", index], context)),
    ...repeatedModels(providers),
    ...Object.entries(object(root["models"])).flatMap(([id, patch]) => [
      ...issuesOfPatchedId(id, patch === null ? null : object(patch), ["models", id], targets),
      ...issuesOfModel(object(patch), ["models", id], id, limitsOf(context, protocolOfModel(id)))
    ]),
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

/** Once per provider entry: models of different providers differ by their prefix. */
const repeatedModels = (providers: ReadonlyArray<Raw>): ReadonlyArray<ConfigIssue> =>
  providers.flatMap((provider, index) =>
    repeated(list(provider["models"]).map(object), "id", ["providers", index, "models"])
  )

const modelIds = (provider: Raw): ReadonlyArray<string> =>
  list(provider["models"]).flatMap((model) => text(object(model)["id"]))
