import type { Snapshot } from "../catalog/Catalog.ts"
import type { Settings } from "../config/Settings.ts"
import type { RoutingRestrictions } from "../domain/Chat.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { providerOf } from "../domain/Model.ts"
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

/** Each with the variables that it needs; none where it can be called. */
type Named = ReadonlyMap<string, ReadonlyArray<string>>

/** What an entry can name: by itself, as a prefix that allows, and as one that excludes. */
interface Names {
  readonly exact: Named
  readonly allowed: Named
  readonly excluded: Named
}

const namesOf = ({ models, unavailable }: Snapshot): Record<"models" | "providers", Names> => {
  const named = (
    keys: (model: Snapshot["models"][number] | Snapshot["unavailable"][number]) => ReadonlyArray<string>
  ): Named =>
    new Map([
      ...unavailable.flatMap((model) => keys(model).map((key) => [key, model.needs] as const)),
      ...models.flatMap((model) => keys(model).map((key) => [key, []] as const))
    ])
  const withUpstreamNames = named(({ alias, id }) => [id, alias])
  const paths = named(({ providerId }) => [`${providerId}/`])
  return {
    // a prefix that allows is of ids alone
    models: { exact: withUpstreamNames, allowed: named(({ id }) => [id]), excluded: withUpstreamNames },
    providers: { exact: named(({ providerId }) => [providerId]), allowed: paths, excluded: paths }
  }
}

const inRestrictions = (
  { models, providers }: RoutingRestrictions,
  keys: Keys,
  prefix: string,
  names: ReturnType<typeof namesOf>
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

const faultOf = (entry: string, names: Names, what: "models" | "providers", allows: boolean): string | undefined => {
  const found = matching(entry, names, allows)
  // to exclude what is not there yet is no mistake
  if (found.some(([, needs]) => needs.length === 0 || !allows)) return undefined
  const kind = what === "models" ? "model" : "provider"
  if (found.length > 0) {
    const needs = [...new Set(found.flatMap(([, each]) => each))]
    return `'${entry}' matches no ${kind} that can be called: set ${needs.join(" or ")}`
  }
  const near = isPrefix(entry) ? nearPrefix(entry, names) : nearest(entry, names.exact.keys())
  return `'${entry}' matches no ${kind}${near === undefined ? "" : `; did you mean '${near}'?`}`
}

const isPrefix = (entry: string): boolean => entry.endsWith("/*")

const matching = (entry: string, { allowed, exact, excluded }: Names, allows: boolean) => {
  if (entry === "*") return [...exact]
  if (!isPrefix(entry)) return [...exact].filter(([name]) => name === entry)
  const prefix = entry.slice(0, -1)
  return [...(allows ? allowed : excluded)].filter(([name]) => name.startsWith(prefix))
}

/** One that upstream names begin with is most likely meant at the provider that sells them. */
const nearPrefix = (entry: string, { allowed }: Names): string | undefined => {
  const part = `/${entry.slice(0, -1)}`
  const sold = [...allowed.keys()].find((name) => name.includes(part))
  if (sold !== undefined) return `${sold.slice(0, sold.indexOf(part))}/${entry}`
  const near = nearest(entry.slice(0, -2), new Set([...allowed.keys()].map(providerOf)))
  return near === undefined ? undefined : `${near}/*`
}
