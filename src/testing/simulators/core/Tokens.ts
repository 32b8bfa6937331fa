import { createHash } from "node:crypto"

/** The tokens of a text at a simulated provider. */
export const tokensOf = (text: string): ReadonlyArray<string> => text.match(/\s*\S{1,6}|\s+$/gu) ?? []

/** A deterministic id for a text. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24)
