import * as Effect from "effect/Effect"
import { nextTurn } from "../../domain/NextTurn.ts"

/**
 * Each step over a body of this size takes one to two milliseconds, and at the maximum size up to 100 ms: for larger bodies, each
 * step runs in its own turn of the event loop.
 */
export const maxBytesInOneTurn = 256 * 1024

/** Yields to the event loop before the next step over a large body of `bytes`. */
export const yieldIfLarge = (bytes: number): Effect.Effect<void> => (bytes > maxBytesInOneTurn ? nextTurn : Effect.void)
