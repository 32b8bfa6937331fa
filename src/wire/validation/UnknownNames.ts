import { isObject } from "./Guard.ts"

/** A response repeats no more of what a request makes up. */
const maxNames = 32
const maxNameCharacters = 64

/** The names of the fields of a body that are not among the known ones; null means absent. */
export const unknownNames = (body: unknown, known: ReadonlySet<string>): ReadonlyArray<string> => {
  const names: Array<string> = []
  if (!isObject(body)) return names
  for (const name in body) {
    if (known.has(name) || body[name] === null) continue
    names.push(name.slice(0, maxNameCharacters).toWellFormed())
    if (names.length === maxNames) break
  }
  return names
}
