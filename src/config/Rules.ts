import { requiredFields } from "./ConfiguredModel.ts"
import { type Fault, fault, type Path } from "./Fault.ts"

/** What the rest of the gateway offers, as far as the file may name it. */
export interface Surroundings {
  /** Provider ids that are taken: those of all built-in vendors and of the simulated providers, usable or not. */
  readonly builtInIds: ReadonlyArray<string>
  /** Names that `vendor` may give. */
  readonly vendorIds: ReadonlyArray<string>
  /** Those of them that are nowhere without a base URL. */
  readonly placelessVendorIds: ReadonlyArray<string>
  /** Ids of all models of the built-in providers, usable or not. */
  readonly catalogModelIds: ReadonlySet<string>
  readonly isSet: (variable: string) => boolean
}

type Raw = Readonly<Record<string, unknown>>

/**
 * The rules that concern more than one place of the file. They read the file as it was parsed, not as it was decoded, so that
 * they are judged even where its shape is wrong elsewhere; what has the wrong shape itself is passed over here.
 */
export const faultsOfRules = (file: unknown, around: Surroundings): ReadonlyArray<Fault> => {
  const root = object(file)
  const providers = list(root["providers"]).map(object)
  const known = new Set([...around.catalogModelIds, ...providers.flatMap((provider) => modelIds(provider))])
  const knownProviders = new Set([...around.builtInIds, ...providers.flatMap((provider) => text(provider["id"]))])
  return [
    ...repeated(providers, "id", ["providers"]),
    ...providers.flatMap((provider, index) => faultsOfProvider(provider, ["providers", index], around)),
    ...repeatedModels(providers),
    ...Object.entries(object(root["models"])).flatMap(([id, patch]) =>
      faultsOfPatch(id, patch, ["models", id], known, knownProviders)
    ),
    ...repeated(list(root["routingConfigurations"]).map(object), "slug", ["routingConfigurations"])
  ]
}

const faultsOfProvider = (provider: Raw, at: Path, around: Surroundings): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const { id, protocol, vendor, baseUrl, apiKeyEnv } = provider
  if (typeof id === "string" && around.builtInIds.includes(id)) {
    faults.push(fault([...at, "id"], "is the id of a built-in provider"))
  }
  if ((protocol === undefined) === (vendor === undefined)) {
    faults.push(fault(at, "needs exactly one of protocol and vendor"))
  }
  if (protocol !== undefined && vendor === undefined && baseUrl === undefined) {
    faults.push(fault([...at, "baseUrl"], "is required with a protocol"))
  }
  if (typeof vendor === "string" && baseUrl === undefined && around.placelessVendorIds.includes(vendor)) {
    faults.push(fault([...at, "baseUrl"], `is required with the vendor ${vendor}`))
  }
  if (typeof vendor === "string" && !around.vendorIds.includes(vendor)) {
    faults.push(fault([...at, "vendor"], `must be one of ${around.vendorIds.join(", ")}`))
  }
  if (typeof apiKeyEnv === "string" && !around.isSet(apiKeyEnv)) {
    faults.push(fault([...at, "apiKeyEnv"], "names an environment variable that is not set or is empty"))
  }
  list(provider["models"]).forEach((entry, index) => {
    const path = [...at, "models", index]
    const model = object(entry)
    if (typeof id === "string" && typeof model["id"] === "string" && !model["id"].startsWith(`${id}/`)) {
      faults.push(fault([...path, "id"], "must start with the id of its provider and a slash"))
    }
    faults.push(...faultsOfModel(model, path))
  })
  return faults
}

const faultsOfPatch = (
  id: string,
  patch: unknown,
  at: Path,
  known: ReadonlySet<string>,
  knownProviders: ReadonlySet<string>
): ReadonlyArray<Fault> => {
  if (known.has(id)) return faultsOfModel(object(patch), at)
  if (patch === null) return [fault(at, "is not a model of the catalog")]
  const missing = requiredFields.filter((field) => object(patch)[field] === undefined)
  if (!knownProviders.has(id.slice(0, Math.max(0, id.indexOf("/"))))) {
    return [fault(at, "is not a model of the catalog, and its provider is not known either")]
  }
  if (missing.length > 0) return [fault(at, `is not a model of the catalog; a new one needs ${missing.join(", ")}`)]
  return faultsOfModel(object(patch), at)
}

const faultsOfModel = (model: Raw, at: Path): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  let above = Number.NEGATIVE_INFINITY
  list(model["priceTiers"]).forEach((tier, index) => {
    const from = object(tier)["abovePromptTokens"]
    if (typeof from !== "number") return
    if (from <= above) {
      faults.push(fault([...at, "priceTiers", index, "abovePromptTokens"], "must be greater than in the tier before"))
    }
    above = from
  })
  const { min, max } = object(model["reasoningDepth"])
  if (typeof min === "number" && typeof max === "number" && min > max) {
    faults.push(fault([...at, "reasoningDepth"], "must have a min that is not above its max"))
  }
  const effort = object(model["profile"])["effort"]
  const efforts = model["reasoningEfforts"]
  if (typeof effort === "string" && efforts !== undefined && !list(efforts).includes(effort)) {
    faults.push(fault([...at, "profile", "effort"], "must be one of the model's reasoningEfforts"))
  }
  return faults
}

const repeated = (rows: ReadonlyArray<Raw>, key: string, at: Path): ReadonlyArray<Fault> => {
  const seen = new Set<string>()
  return rows.flatMap((row, index) => {
    const value = row[key]
    if (typeof value !== "string") return []
    if (seen.has(value)) return [fault([...at, index, key], "is given twice")]
    seen.add(value)
    return []
  })
}

/** Once per provider entry: models of different providers differ by their prefix. */
const repeatedModels = (providers: ReadonlyArray<Raw>): ReadonlyArray<Fault> =>
  providers.flatMap((provider, index) =>
    repeated(list(provider["models"]).map(object), "id", ["providers", index, "models"])
  )

const modelIds = (provider: Raw): ReadonlyArray<string> =>
  list(provider["models"]).flatMap((model) => text(object(model)["id"]))

const object = (value: unknown): Raw => (isObject(value) ? value : {})

const isObject = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value)

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const text = (value: unknown): ReadonlyArray<string> => (typeof value === "string" ? [value] : [])
