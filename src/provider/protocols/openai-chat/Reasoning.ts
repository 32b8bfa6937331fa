import type { JsonObject } from "../../../domain/Chat.ts"
import type { ProviderCall } from "../../Provider.ts"
import { reasoningBudget } from "../shared/ReasoningBudget.ts"
import type { Quirks } from "./Quirks.ts"

/** The reasoning fields of the request body, by the reasoning style of the model. */
export const lowerReasoning = (
  { effort, maxOutputTokens, model, request }: ProviderCall,
  { reasoningFields: fields }: Quirks
): JsonObject => {
  const tokens = request.reasoning.maxTokens
  if (model.reasoning === null) return {}
  if (typeof effort === "number") return fields.effort(effort)
  switch (model.reasoning.style) {
    case "fixed":
      return {}
    case "effort":
      return effort === undefined ? {} : fields.effort(effort)
    case "toggle":
      return effort === undefined ? {} : fields.toggle(effort !== "none")
    case "budget":
      if (effort === "none") return fields.toggle(false)
      if (effort === undefined && tokens === undefined) return {}
      return fields.budget(reasoningBudget({ effort, tokens, maxOutputTokens, range: model.reasoning.budget }))
  }
}
