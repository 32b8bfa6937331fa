import type { Effort } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"

/** A reasoning model writes a multiple of what others write. */
const factors: Readonly<Record<Effort, number>> = {
  none: 1,
  minimal: 1.5,
  low: 2,
  medium: 4,
  high: 8,
  xhigh: 12,
  max: 16
}

/** How many times as much a model writes at this effort as without reasoning. */
export const reasoningFactor = (model: Model, effort: Effort | number | undefined): number => {
  if (typeof effort === "number") return 1 + effort * 0.15
  const likely = effort ?? model.reasoning?.defaultEffort ?? (model.reasonsByDefault ? "medium" : "none")
  return factors[likely]
}
