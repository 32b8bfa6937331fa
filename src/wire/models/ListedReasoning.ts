import type { Effort } from "../../domain/Chat.ts"
import type { Model, Reasoning } from "../../domain/Model.ts"
import type { ModelEntry } from "./ModelListSchema.ts"

/**
 * Reasoning metadata under the three field names that clients read. A model that reasons without a choice has an empty list of
 * options only.
 */
export const reasoningOf = (model: Model): Pick<ModelEntry, "reasoning" | "reasoning_options" | "opencode"> => {
  const { reasoning } = model
  if (reasoning === null) return {}
  if (!isSelectable(reasoning)) return { reasoning_options: [] }
  return {
    reasoning: {
      mandatory: reasoning.mandatory,
      supported_efforts: [...reasoning.efforts].reverse(),
      default_effort: reasoning.defaultEffort,
      default_enabled: model.reasonsByDefault,
      ...(reasoning.style === "budget" ? { supports_max_tokens: true as const } : {}),
      ...(reasoning.depth === null ? {} : { depth: reasoning.depth })
    },
    reasoning_options: optionsOf(reasoning),
    opencode: { variants: Object.fromEntries(named(reasoning).map((effort) => [effort, { reasoning_effort: effort }])) }
  }
}

export const isSelectable = ({ depth, efforts }: Reasoning): boolean => efforts.length > 0 || depth !== null

/** "none" means no variant. */
const named = ({ efforts }: Reasoning): ReadonlyArray<Effort> => efforts.filter((effort) => effort !== "none")

const optionsOf = (reasoning: Reasoning): NonNullable<ModelEntry["reasoning_options"]> => {
  const values = named(reasoning)
  if (reasoning.style === "toggle") return [{ type: "toggle" }]
  const byName = values.length === 0 ? [] : [{ type: "effort" as const, values }]
  if (reasoning.style !== "budget") return byName
  const { max = null, min = null } = reasoning.budget ?? {}
  const bounds = { ...(min === null ? {} : { min }), ...(max === null ? {} : { max }) }
  return [...byName, { type: "budget_tokens", ...bounds }]
}
