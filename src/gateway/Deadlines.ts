import type { Candidate } from "../domain/Candidate.ts"

/** How long a provider may take, in milliseconds, for a model that does not reason. */
export interface Deadlines {
  /** A stream's first content. */
  readonly firstContentMillis: number
  /** A complete non-streaming response. */
  readonly plainAnswerMillis: number
  /** Silence once bytes have flowed. */
  readonly idleMillis: number
  /** The call over all its attempts; the same for every model. */
  readonly totalMillis: number
}

export const defaultDeadlines: Deadlines = {
  firstContentMillis: 15_000,
  plainAnswerMillis: 60_000,
  idleMillis: 20_000,
  totalMillis: 600_000
}

/** Whether the candidate will reason before its answer. */
export const willReason = ({ effort, model }: Candidate): boolean =>
  effort === undefined ? model.reasonsByDefault : effort !== "none"

/** A model produces no output while it reasons: a reasoning model gets more time, most at the highest efforts. */
export const forCandidate = (deadlines: Deadlines, candidate: Candidate): Deadlines => {
  if (!willReason(candidate)) return deadlines
  const patience = candidate.effort === "xhigh" || candidate.effort === "max" ? 8 : 4
  return {
    firstContentMillis: deadlines.firstContentMillis * patience,
    plainAnswerMillis: deadlines.plainAnswerMillis * patience,
    idleMillis: deadlines.idleMillis * 4,
    totalMillis: deadlines.totalMillis
  }
}
