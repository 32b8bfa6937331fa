import type { RequestId } from "./Ids.ts"

/** Values of a response that are fixed when the response begins. */
export interface ResponseStart {
  /** Of the call; the ids of responses are made of it. */
  readonly requestId: RequestId
  /** Seconds since the epoch. */
  readonly createdSeconds: number
  /** The concrete model of the response. */
  readonly model: string
  /** Likely tokens of the prompt with its images and files, by the gateway's estimate; unset where no model has answered. */
  readonly promptTokens?: number
}
