import type { Effort } from "../domain/Chat.ts"

/** What a client asked for, where a provider takes thinking as a number of tokens. */
export interface Asked {
  readonly effort: Effort | undefined
  /** Named by the client itself. */
  readonly tokens: number | undefined
  readonly maxOutputTokens: number
  readonly range: { readonly min: number | null; readonly max: number | null } | null
}

/** Within the model's own range, and below the cap: some of the answer must be left to say. */
export const thinkingBudget = ({ effort, maxOutputTokens, range, tokens }: Asked): number => {
  const wanted = tokens ?? ratios[effort ?? "medium"] * maxOutputTokens
  const most = Math.min(range?.max ?? Number.MAX_SAFE_INTEGER, Math.max(1, maxOutputTokens - 1))
  return Math.max(range?.min ?? 1, Math.min(Math.floor(wanted), most))
}

/** How much of the output cap each effort may think. */
const ratios: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95
}
