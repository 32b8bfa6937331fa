import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { nearest } from "../domain/Nearest.ts"

/** Shorter names, such as HOST, are near to too many of other programs. */
const minCharacters = 8

/** Endings by which people name a vendor's `…_API_KEY`. */
const otherEndings = ["_KEY", "_TOKEN", "_APIKEY", "_API_TOKEN", "_SECRET", "_SECRET_KEY"]

/** Variables that are set under a name that the gateway does not read, near to one that it would read and that is not set. */
export const similarNames = (set: Iterable<string>, known: ReadonlyArray<string>): ReadonlyArray<ConfigIssue> => {
  const given = new Set(set)
  const unset = known.filter((name) => !given.has(name))
  const readable = new Set(known)
  const byOther = new Map(unset.flatMap((name) => otherNamesOf(name).map((other) => [other, name] as const)))
  const comparable = unset.filter((name) => name.length >= minCharacters)
  return [...given].flatMap((name) => {
    if (readable.has(name)) return []
    const meant =
      byOther.get(name.toUpperCase()) ?? (name.length < minCharacters ? undefined : nearest(name, comparable))
    return meant === undefined ? [] : [{ path: name, message: `is not read; did you mean ${meant}?` }]
  })
}

const otherNamesOf = (name: string): ReadonlyArray<string> => {
  const stem = /^(.+)_API_KEY$/.exec(name)?.[1]
  return stem === undefined ? [] : otherEndings.map((ending) => stem + ending)
}
