// @ts-check
// Changes to a JSON value at random places: wrong types, wrong nesting, repeated, missing and renamed parts.

/** @import { Random } from "./random.mjs" */
/** @typedef {{ [name: string]: unknown }} Fields */

/** Marks a name that was changed: what stands under it is no part of what was said. */
export const renamed = "xRenamed"

/**
 * A place of the value, as what holds it and its key there: the deeper it is, the more steps did not stop before it.
 *
 * @param {Random} random
 * @param {unknown} value
 */
const placeOf = (random, value) => {
  /** @type {{ parent: object, key: string } | undefined} */
  let place
  for (let at = value; typeof at === "object" && at !== null; ) {
    const [first, ...others] = Object.keys(at)
    if (first === undefined || (place !== undefined && random.chance(0.15))) break
    const key = random.pick([first, ...others])
    place = { parent: at, key }
    at = fieldsOf(at)[key] ?? null
  }
  return place
}

/** A list by its indexes. @param {object} value */
const fieldsOf = (value) => /** @type {Fields} */ (value)

/** @param {unknown} value */
const isText = (value) => typeof value === "string"

/** Around an object or a list no further object is put: its fields would then only be ones that nobody knows. @param {unknown} value @param {number} depth */
const nested = (value, depth) => {
  let whole = value
  for (let level = 0; level < depth; level++) whole = level % 2 === 1 && isText(value) ? { text: whole } : [whole]
  return whole
}

/** @type {readonly [(value: unknown) => unknown, ...Array<(value: unknown) => unknown>]} */
const changes = [
  (value) => [value],
  (value) => (isText(value) ? { text: value } : [value, value]),
  (value) => [[value], [value]],
  (value) => nested(value, 70),
  (value) => nested(value, 400),
  (value) => (Array.isArray(value) ? [...value, ...value] : `${typeof value === "string" ? value : ""}`),
  (value) => (Array.isArray(value) ? [...value].reverse() : value),
  () => 7,
  () => -1,
  () => 1e308,
  () => true,
  () => null,
  () => "",
  () => [],
  () => ({})
]

/**
 * A changed copy of a JSON value.
 *
 * @template T
 * @param {Random} random
 * @param {T} value
 * @returns {T} by its type; what has been changed may be of any
 */
export const mutated = (random, value) => {
  const copy = structuredClone(value)
  const place = placeOf(random, copy)
  if (place === undefined) return copy
  const { key, parent } = place
  const fields = fieldsOf(parent)
  const before = fields[key] ?? null
  const kind = random.below(changes.length + 3)
  const change = changes[kind]
  if (change !== undefined) fields[key] = change(before)
  else if (kind === changes.length && !Array.isArray(parent)) {
    fields[`${key}${renamed}`] = before
    delete fields[key]
  } else if (Array.isArray(parent)) parent.push(structuredClone(before))
  else delete fields[key]
  return copy
}
