import { createHash } from "node:crypto"

/** What a simulated provider takes for tokens. */
export const tokensOf = (text: string): ReadonlyArray<string> => text.match(/\s*\S{1,6}|\s+$/gu) ?? []

/** What a provider's id is made of here: the same for the same text. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24)
