import { hash } from "node:crypto"

/** What stands for an id, the same on each node and each time. */
export const digestOf = (id: string): string => hash("sha256", id, "hex")

/** An id that a provider takes: a longer one is sent as its digest. */
export const idWithin = (id: string, maxCharacters: number): string => (id.length <= maxCharacters ? id : digestOf(id))
