import type { RequestId } from "../domain/Ids.ts"

/** What is fixed about an answer when it begins. */
export interface AnswerHead {
  readonly requestId: RequestId
  readonly createdSeconds: number
  /** The concrete model that answers. */
  readonly model: string
}

/** The request's uuid without its dashes, under which all ids of the answer are formed. */
export const hexOf = (requestId: RequestId): string =>
  requestId.slice(0, 8) +
  requestId.slice(9, 13) +
  requestId.slice(14, 18) +
  requestId.slice(19, 23) +
  requestId.slice(24)
