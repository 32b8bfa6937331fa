import type { RequestId } from "./Ids.ts"

/** Values of a response that are fixed when the response begins. */
export interface ResponseStart {
  readonly requestId: RequestId
  readonly createdSeconds: number
  /** The concrete model of the response. */
  readonly model: string
}
