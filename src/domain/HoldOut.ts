import { createHash } from "node:crypto"

/** Of an experiment: whether a conversation gets the change, or goes on as before. */
export const arms = ["treated", "held_out"] as const
export type Arm = (typeof arms)[number]

/** How an experiment divides the conversations of its project. */
export interface Division {
  /** Of the experiment, so that two of them do not divide alike. */
  readonly id: string
  /** Of the conversations that get the change, 0 to 1. */
  readonly share: number
}

/**
 * The arm of a conversation, by its hash (see `conversationOf`): the same at each node, for each of its calls, for as long as the
 * experiment lasts.
 */
export const armOf = ({ id, share }: Division, conversation: string): Arm =>
  createHash("sha256").update(`${id}\0${conversation}`).digest().readUInt32BE(0) / 2 ** 32 < share
    ? "treated"
    : "held_out"
