import { isObject } from "./Guard.ts"

/** A response repeats no more of what a request makes up. */
const maxNames = 32
const maxNameCharacters = 64

/** The names of the fields of a body that are not among the known ones; null and `undefined` mean absent. */
export const unknownNames = (body: unknown, known: ReadonlySet<string>): ReadonlyArray<string> => {
  const names: Array<string> = []
  if (!isObject(body)) return names
  for (const name in body) {
    const value = body[name]
    if (known.has(name) || value === null || value === undefined) continue
    names.push(name.slice(0, maxNameCharacters).toWellFormed())
    if (names.length === maxNames) break
  }
  return names
}
