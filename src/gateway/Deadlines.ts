import type { Candidate } from "../domain/Candidate.ts"
import { asksToReason, type ChatRequest } from "../domain/Chat.ts"

/** How long a provider may take, in milliseconds, for a model that does not reason. */
export interface Deadlines {
  /** A stream's first content. */
  readonly firstContentMillis: number
  /** A complete non-streaming response. */
  readonly plainAnswerMillis: number
  /** Silence once bytes have flowed. */
  readonly idleMillis: number
  /** The call over all its attempts, with an output cap of at most 24,000 tokens. */
  readonly totalMillis: number
  /** How far a larger output cap extends `totalMillis`; left out, or less than that, it does not. */
  readonly maxTotalMillis?: number
}

/** In 600 s these are 40 tokens a second, slower than providers generate. */
const tokensInTotalMillis = 24_000

/**
 * The time of a whole call: as much more than `totalMillis` as the output cap is above 24,000 tokens, at most
 * `maxTotalMillis`. With the defaults that is 1,600 s for 64,000 tokens, and never more than 3,000 s.
 */
export const totalMillis = (deadlines: Deadlines, maxOutputTokens: number): number => {
  const { maxTotalMillis = 0, totalMillis } = deadlines
  return Math.max(totalMillis, Math.min(maxTotalMillis, totalMillis * (maxOutputTokens / tokensInTotalMillis)))
}

/** Whether the candidate will reason before its answer. */
export const willReason = ({ effort, model }: Candidate, { reasoning }: Pick<ChatRequest, "reasoning">): boolean => {
  if (effort !== undefined) return effort !== "none"
  return model.reasonsByDefault || (model.reasoning !== null && asksToReason(reasoning))
}

/** A model produces no output while it reasons: a reasoning model gets more time, most at the highest efforts. */
export const forCandidate = (
  deadlines: Deadlines,
  candidate: Candidate,
  request: Pick<ChatRequest, "reasoning">
): Deadlines => {
  if (!willReason(candidate, request)) return deadlines
  const patience = candidate.effort === "xhigh" || candidate.effort === "max" ? 8 : 4
  return {
    ...deadlines,
    firstContentMillis: deadlines.firstContentMillis * patience,
    plainAnswerMillis: deadlines.plainAnswerMillis * patience,
    idleMillis: deadlines.idleMillis * 4
  }
}
