import { isObject, type Json } from "../shared/Json.ts"

type Writable = { [key: string]: unknown }

/**
 * Arguments of a call that come in pieces, each with a path into the object (`$.items[0].name`); pieces of one string are
 * concatenated. A piece with an impossible path fails the response.
 */
export class PartialArgs {
  private readonly root: Writable = {}

  /** False when the piece cannot be placed. */
  add(piece: unknown): boolean {
    if (!isObject(piece)) return false
    const path = stepsOf(piece["jsonPath"])
    const last = path?.at(-1)
    if (path === undefined || last === undefined) return false
    let place: unknown = this.root
    for (const [at, step] of path.slice(0, -1).entries()) {
      const next = path[at + 1]
      if (childOf(place, step) === undefined && !put(place, step, typeof next === "number" ? [] : {})) return false
      place = childOf(place, step)
    }
    const before = childOf(place, last)
    const value = pieceValue(piece)
    if (value === undefined) return true
    return put(place, last, typeof before === "string" && typeof value === "string" ? before + value : value)
  }

  get args(): Json {
    return this.root
  }
}

const pieceValue = (piece: Json): unknown => {
  for (const key of ["stringValue", "numberValue", "boolValue"]) if (piece[key] !== undefined) return piece[key]
  return "nullValue" in piece ? null : undefined
}

type PathStep = string | number

/** More elements in one list, or more path steps, than any valid call has. */
const maxElements = 10_000
const maxSteps = 64

const stepsOf = (path: unknown): ReadonlyArray<PathStep> | undefined => {
  if (typeof path !== "string" || !path.startsWith("$")) return undefined
  const steps: Array<PathStep> = []
  let rest = path.slice(1)
  while (rest !== "") {
    const found = /^(?:\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\])/.exec(rest)
    if (found === null || steps.length === maxSteps) return undefined
    const [all, name, index, single, double] = found
    steps.push(index !== undefined ? Number(index) : (name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1")))
    rest = rest.slice(all.length)
  }
  return steps
}

const childOf = (place: unknown, step: PathStep): unknown => {
  if (Array.isArray(place)) return typeof step === "number" ? place[step] : undefined
  return isObject(place) && Object.hasOwn(place, step) ? place[step] : undefined
}

const put = (place: unknown, step: PathStep, value: unknown): boolean => {
  if (Array.isArray(place)) {
    if (typeof step !== "number" || step > place.length || step >= maxElements) return false
    place[step] = value
    return true
  }
  if (typeof place !== "object" || place === null || typeof step !== "string") return false
  Object.defineProperty(place, step, { value, configurable: true, enumerable: true, writable: true })
  return true
}
