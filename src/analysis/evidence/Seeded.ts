import { createHash } from "node:crypto"

/** A number from 0 to 1 that follows from the names: what is drawn at random is drawn again the same after a crash. */
export const draw = (...names: ReadonlyArray<string>): number =>
  createHash("sha256").update(names.join("\0")).digest().readUInt32LE(0) / 2 ** 32
