// Changes to a JSON value at random places: wrong types, wrong nesting, repeated, missing and renamed parts.

/** Marks a name that was changed: what stands under it is no part of what was said. */
export const renamed = "xRenamed"

/** A place of the value, as a path from its root: the deeper it is, the more steps did not stop before it. */
const placeOf = (random, value) => {
  const path = []
  for (let at = value; typeof at === "object" && at !== null; at = at[path.at(-1)]) {
    const keys = Object.keys(at)
    if (keys.length === 0 || (path.length > 0 && random.chance(0.15))) break
    path.push(random.pick(keys))
  }
  return path
}

const isText = (value) => typeof value === "string"

/** Around an object or a list no further object is put: its fields would then only be ones that nobody knows. */
const nested = (value, depth) => {
  let whole = value
  for (let level = 0; level < depth; level++) whole = level % 2 === 1 && isText(value) ? { text: whole } : [whole]
  return whole
}

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

/** A changed copy. */
export const mutated = (random, value) => {
  const copy = structuredClone(value)
  const path = placeOf(random, copy)
  if (path.length === 0) return copy
  const parent = path.slice(0, -1).reduce((at, key) => at[key], copy)
  const key = path.at(-1)
  const kind = random.below(changes.length + 3)
  if (kind < changes.length) parent[key] = changes[kind](parent[key])
  else if (kind === changes.length && !Array.isArray(parent)) {
    parent[`${key}${renamed}`] = parent[key]
    delete parent[key]
  } else if (Array.isArray(parent)) parent.push(structuredClone(parent[key]))
  else delete parent[key]
  return copy
}
