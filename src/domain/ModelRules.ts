import { type ConfigIssue, issueAt } from "./InvalidConfiguration.ts"
import type { JsonPath } from "./JsonPath.ts"
import { providerOf } from "./Model.ts"
import { nearest } from "./Nearest.ts"
import { isStandardTier } from "./Prices.ts"
import { list, object, type Raw, text } from "./RawJson.ts"

/** A model whose efforts are asked for. */
export interface EffortModel {
  readonly id: string
  /** `undefined`: as in the catalog, or from the id. */
  readonly upstreamModel: string | undefined
}

/** Settings that do nothing because of a protocol. */
export interface WithoutEffect {
  /** Their names, of inner ones with the outer one and a dot. */
  readonly fields: ReadonlyArray<string>
  readonly capabilities: ReadonlyArray<string>
}

/** What cannot be set for a model because of the protocol of its provider. */
export interface ModelLimits extends WithoutEffect {
  /** Efforts that the provider cannot be sent, as another one would be in their place. */
  readonly unsentEfforts: (model: EffortModel) => ReadonlyArray<string>
}

/** What is wrong with a model or a patch of one, as the operator or an application has written it. */
export const issuesOfModel = (
  of: object,
  at: JsonPath,
  id: string,
  limits: ModelLimits
): ReadonlyArray<ConfigIssue> => {
  const model = object(of)
  const issues: Array<ConfigIssue> = [
    ...issuesOfTiers(model, at),
    ...issuesOfServiceTiers(model, at),
    ...issuesOfEffect(model, at, limits),
    ...issuesOfEfforts(model, at, limits.unsentEfforts({ id, upstreamModel: text(model["upstreamModel"])[0] }))
  ]
  const { min, max } = object(model["reasoningDepth"])
  if (typeof min === "number" && typeof max === "number" && min > max) {
    issues.push(issueAt([...at, "reasoningDepth"], "must have a min that is not above its max"))
  }
  const effort = object(model["profile"])["effort"]
  const efforts = model["reasoningEfforts"]
  if (typeof effort === "string" && efforts !== undefined && !list(efforts).includes(effort)) {
    issues.push(issueAt([...at, "profile", "effort"], "must be one of the model's reasoningEfforts"))
  }
  return issues
}

/** What a model outside the catalog has of its own, and a patch that adds one therefore too. */
export const requiredFields = [
  "inputPriceMicroUsdPerMillion",
  "outputPriceMicroUsdPerMillion",
  "contextTokens",
  "outputTokens"
] as const

/** What there is that a patch can name. */
export interface PatchTargets {
  /** Ids of models, callable or not. */
  readonly models: ReadonlySet<string>
  /** Ids of providers that a patch can add a model to. */
  readonly providers: ReadonlySet<string>
  /** Ids of those that have the models they come with, and no others. */
  readonly providersWithFixedModels: ReadonlySet<string>
}

/** A patch that changes, removes or adds nothing is refused: its id is most often misspelt. */
export const issuesOfPatchedId = (
  id: string,
  patch: object | null,
  at: JsonPath,
  { models, providers, providersWithFixedModels }: PatchTargets
): ReadonlyArray<ConfigIssue> => {
  if (models.has(id)) return []
  const unknown = (why: string) => {
    const near = nearest(id, models)
    return [issueAt(at, `is not a model of the catalog${why}${near === undefined ? "" : `; did you mean ${near}?`}`)]
  }
  if (patch === null) return unknown("")
  const provider = providerOf(id)
  if (providersWithFixedModels.has(provider)) return unknown(", and none can be added to its provider")
  if (!providers.has(provider)) return unknown(", and its provider is not known either")
  const missing = requiredFields.filter((field) => object(patch)[field] === undefined)
  return missing.length === 0 ? [] : unknown(`; a new one needs ${missing.join(", ")}`)
}

/** A setting of a provider or a model that does nothing is refused: an operator would wait for its effect. */
export const issuesOfEffect = (
  of: Raw,
  at: JsonPath,
  { capabilities, fields }: WithoutEffect
): ReadonlyArray<ConfigIssue> => {
  const reason = "has no effect: the protocol of this provider has no field for it"
  const isSet = (value: unknown) =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  return [
    ...fields.flatMap((field) => {
      const path = field.split(".")
      const value = path.reduce((inner: unknown, key) => object(inner)[key], of)
      return isSet(value) ? [issueAt([...at, ...path], reason)] : []
    }),
    ...list(of["capabilities"]).flatMap((capability, index) =>
      text(capability).some((one) => capabilities.includes(one))
        ? [issueAt([...at, "capabilities", index], reason)]
        : []
    )
  ]
}

/** An effort that is listed is promised: another one in its place would be sent without a word. */
const issuesOfEfforts = (model: Raw, at: JsonPath, unsent: ReadonlyArray<string>): ReadonlyArray<ConfigIssue> => {
  const reason = "cannot be sent: the protocol of this provider has no such effort for the model"
  const named = [
    ...list(model["reasoningEfforts"]).map((effort, index) => [effort, ["reasoningEfforts", index]] as const),
    [object(model["profile"])["effort"], ["profile", "effort"]] as const
  ]
  return named.flatMap(([effort, path]) =>
    text(effort).some((one) => unsent.includes(one)) ? [issueAt([...at, ...path], reason)] : []
  )
}

const issuesOfTiers = (prices: Raw, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  let above = Number.NEGATIVE_INFINITY
  return list(prices["priceTiers"]).flatMap((tier, index) => {
    const from = object(tier)["abovePromptTokens"]
    if (typeof from !== "number") return []
    const isAbove = from > above
    above = from
    return isAbove
      ? []
      : [issueAt([...at, "priceTiers", index, "abovePromptTokens"], "must be greater than in the tier before")]
  })
}

const issuesOfServiceTiers = (model: Raw, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  const path = [...at, "serviceTierPrices"]
  const tiers = list(model["serviceTierPrices"]).map(object)
  return [
    ...repeated(tiers, "serviceTier", path),
    ...tiers.flatMap((tier, index) => [
      ...(text(tier["serviceTier"]).some(isStandardTier)
        ? [issueAt([...path, index, "serviceTier"], "is a name of the standard tier, whose prices are the model's own")]
        : []),
      ...issuesOfTiers(tier, [...path, index])
    ])
  ]
}

/** Rows of a list that have the same value under `key`. */
export const repeated = (rows: ReadonlyArray<Raw>, key: string, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  const seen = new Set<string>()
  return rows.flatMap((row, index) => {
    const value = row[key]
    if (typeof value !== "string") return []
    if (seen.has(value)) return [issueAt([...at, index, key], "is given twice")]
    seen.add(value)
    return []
  })
}
