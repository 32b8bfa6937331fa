import type { Snapshot } from "../catalog/Catalog.ts"
import type { Settings } from "../config/Settings.ts"
import type { RoutingRestrictions } from "../domain/Chat.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { nearest } from "../domain/Nearest.ts"

/** Every entry of the configured policy and routing configurations that names nothing: most often a typing error. */
export const unmatchedNames = (
  { policy, routingConfigurations }: Pick<Settings, "policy" | "routingConfigurations">,
  snapshot: Snapshot
): ReadonlyArray<ConfigIssue> => {
  const names = namesOf(snapshot)
  return [
    ...(policy === null ? [] : inRestrictions(policy, policyKeys, "policy.", names)),
    ...(routingConfigurations ?? []).flatMap((routing, at) =>
      inRestrictions(routing, routingKeys, `routingConfigurations[${at}].`, names)
    )
  ]
}

interface Keys {
  readonly models: string
  readonly providers: string
  readonly noModels: string
  readonly noProviders: string
}

/** As the file has them. A routing configuration of the file cannot exclude. */
const policyKeys: Keys = {
  models: "allowed_models",
  providers: "allowed_providers",
  noModels: "excluded_models",
  noProviders: "excluded_providers"
}
const routingKeys: Keys = { models: "models", providers: "providers", noModels: "", noProviders: "" }

/** What an entry can name, each with the variables that it needs; none where it can be called. */
interface Names {
  readonly models: ReadonlyMap<string, ReadonlyArray<string>>
  readonly providers: ReadonlyMap<string, ReadonlyArray<string>>
}

const namesOf = ({ models, unavailable }: Snapshot): Names => {
  const named = (
    keys: (model: Snapshot["models"][number] | Snapshot["unavailable"][number]) => ReadonlyArray<string>
  ) =>
    new Map([
      ...unavailable.flatMap((model) => keys(model).map((key) => [key, model.needs] as const)),
      ...models.flatMap((model) => keys(model).map((key) => [key, []] as const))
    ])
  return { models: named(({ alias, id }) => [id, alias]), providers: named(({ providerId }) => [providerId]) }
}

const inRestrictions = (
  { models, providers }: RoutingRestrictions,
  keys: Keys,
  prefix: string,
  names: Names
): ReadonlyArray<ConfigIssue> => {
  const inList = (entries: ReadonlyArray<string> | null, key: string, what: "models" | "providers", allows: boolean) =>
    (entries ?? []).flatMap((entry, at) => {
      const fault = faultOf(entry, names[what], what, allows)
      return fault === undefined ? [] : [{ path: `${prefix}${key}[${at}]`, message: fault }]
    })
  return [
    ...inList(models.allow, keys.models, "models", true),
    ...inList(models.deny, keys.noModels, "models", false),
    ...inList(providers.allow, keys.providers, "providers", true),
    ...inList(providers.deny, keys.noProviders, "providers", false)
  ]
}

const faultOf = (
  entry: string,
  names: ReadonlyMap<string, ReadonlyArray<string>>,
  what: "models" | "providers",
  allows: boolean
): string | undefined => {
  const found = matching(entry, names)
  // to exclude what is not there yet is no mistake
  if (found.some(([, needs]) => needs.length === 0 || !allows)) return undefined
  const kind = what === "models" ? "model" : "provider"
  if (found.length > 0) {
    const needs = [...new Set(found.flatMap(([, each]) => each))]
    return `'${entry}' matches no ${kind} that can be called: set ${needs.join(" or ")}`
  }
  const near = nearest(entry.replace(/\/\*$/, ""), namesNearTo(entry, names))
  const meant = near === undefined ? "" : `; did you mean '${near}${entry.endsWith("/*") ? "/*" : ""}'?`
  return `'${entry}' matches no ${kind}${meant}`
}

const matching = (entry: string, names: ReadonlyMap<string, ReadonlyArray<string>>) => {
  if (entry === "*") return [...names]
  if (!entry.endsWith("/*")) return [...names].filter(([name]) => name === entry)
  const prefix = entry.slice(0, -2)
  return [...names].filter(([name]) => name === prefix || name.startsWith(`${prefix}/`))
}

const namesNearTo = (entry: string, names: ReadonlyMap<string, ReadonlyArray<string>>): Iterable<string> =>
  entry.endsWith("/*") ? new Set([...names.keys()].map((name) => name.split("/")[0] ?? name)) : names.keys()
