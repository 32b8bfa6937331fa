import { hash } from "node:crypto"

/** An id that a provider takes: a longer one is sent as its digest, the same on each node and each time. */
export const idWithin = (id: string, maxCharacters: number): string =>
  id.length <= maxCharacters ? id : hash("sha256", id, "hex")
