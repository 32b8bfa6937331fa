import type { JsonObject } from "../domain/Chat.ts"

/** What a guard answers instead of a value. */
export const refused: unique symbol = Symbol("refused")
export type Refused = typeof refused

/** Where a guard refused, innermost key first; empty when the value itself is of the wrong kind. */
export type Trail = Array<string | number>

/**
 * Checks a JSON value in one pass. The answer is the very same value when it holds nothing but known fields, and a copy
 * of those fields when it holds more: either can be put into JSON again without carrying anything that was not looked at.
 */
export type Guard<A> = (value: unknown, trail: Trail) => A | Refused

export interface Field<A, Needed extends boolean> {
  readonly guard: Guard<A>
  readonly needed: Needed
}

/** A field for every property of `A`, required exactly where the property is. */
export type FieldsOf<A> = {
  readonly [K in keyof A]-?: Record<never, never> extends Pick<A, K>
    ? Field<A[K] | undefined, false>
    : Field<A[K], true>
}

export const required = <A>(guard: Guard<A>): Field<A, true> => ({ guard, needed: true })

/** `null` counts as absent. */
export const optional = <A>(guard: Guard<A>): Field<A | undefined, false> => ({
  guard: (value, trail) => (value === null ? undefined : guard(value, trail)),
  needed: false
})

/** May be left out, but `null` is refused. */
export const omittable = <A>(guard: Guard<A>): Field<A | undefined, false> => ({ guard, needed: false })

/** `null` stays as it is. */
export const nullable = <A>(guard: Guard<A>): Field<A | null | undefined, false> => ({
  guard: orNull(guard),
  needed: false
})

export const orNull =
  <A>(guard: Guard<A>): Guard<A | null> =>
  (value, trail) =>
    value === null ? null : guard(value, trail)

export const string: Guard<string> = (value) => (typeof value === "string" ? value : refused)

export const boolean: Guard<boolean> = (value) => (typeof value === "boolean" ? value : refused)

export const number =
  (least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): Guard<number> =>
  (value) =>
    typeof value === "number" && Number.isFinite(value) && value >= least && value <= most ? value : refused

export const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER): Guard<number> =>
  (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most ? value : refused

export const literal = <const L extends ReadonlyArray<string | number>>(...values: L): Guard<L[number]> => {
  const known = new Set<unknown>(values)
  const isKnown = (value: unknown): value is L[number] => known.has(value)
  return (value) => (isKnown(value) ? value : refused)
}

export const jsonObject: Guard<JsonObject> = (value) => (isObject(value) ? value : refused)

/** A value that also meets `fault`, which names where it does not (outermost key first). */
export const where =
  <A>(guard: Guard<A>, fault: (value: A) => ReadonlyArray<string> | undefined): Guard<A> =>
  (value, trail) => {
    const checked = guard(value, trail)
    if (checked === refused) return refused
    const at = fault(checked)
    if (at === undefined) return checked
    trail.push(...[...at].reverse())
    return refused
  }

/** The first guard must be one of a single value, so that a refusal's trail is that of the second. */
export const either =
  <A, B>(single: Guard<A>, other: Guard<B>): Guard<A | B> =>
  (value, trail) => {
    const checked = single(value, trail)
    return checked === refused ? other(value, trail) : checked
  }

export const array =
  <A>(item: Guard<A>, most = Number.POSITIVE_INFINITY, least = 0): Guard<ReadonlyArray<A>> =>
  (value, trail) => {
    if (!Array.isArray(value) || value.length > most || value.length < least) return refused
    const items: ReadonlyArray<unknown> = value
    let copy: Array<A> | undefined
    for (let i = 0; i < items.length; i++) {
      const checked = item(items[i], trail)
      if (checked === refused) {
        trail.push(i)
        return refused
      }
      if (copy !== undefined) copy.push(checked)
      else if (checked !== items[i]) {
        copy = value.slice(0, i)
        copy.push(checked)
      }
    }
    return copy ?? value
  }

export const record =
  <A>(item: Guard<A>): Guard<Readonly<Record<string, A>>> =>
  (value, trail) => {
    if (!isObject(value)) return refused
    for (const key in value) {
      if (item(value[key], trail) === refused) {
        trail.push(key)
        return refused
      }
    }
    return value as Readonly<Record<string, A>>
  }

export const struct = <A extends object>(fields: FieldsOf<A>): Guard<A> => {
  const known = new Map<string, Field<unknown, boolean>>(Object.entries(fields))
  let needed = 0
  for (const field of known.values()) if (field.needed) needed++
  return (value, trail) => {
    if (!isObject(value)) return refused
    let copy: Record<string, unknown> | undefined
    let seen = 0
    for (const key in value) {
      const before = value[key]
      const field = known.get(key)
      const checked = field?.guard(before, trail)
      if (checked === refused) {
        trail.push(key)
        return refused
      }
      if (field?.needed === true && checked !== undefined) seen++
      if (copy === undefined && (field === undefined || checked !== before)) copy = upTo(value, key)
      if (copy !== undefined && checked !== undefined) copy[key] = checked
    }
    return seen === needed ? ((copy ?? value) as A) : refused
  }
}

/** One of several structs, told apart by the string in `tag`. */
export const tagged = <A>(tag: string, members: { readonly [name: string]: Guard<A> }): Guard<A> => {
  const byName = new Map(Object.entries(members))
  return (value, trail) => {
    if (!isObject(value)) return refused
    const name = value[tag]
    const member = typeof name === "string" ? byName.get(name) : undefined
    if (member !== undefined) return member(value, trail)
    if (name !== undefined) trail.push(tag)
    return refused
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields before `end`, all of which were known and clean. */
const upTo = (value: JsonObject, end: string): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    if (key === end) break
    copy[key] = value[key]
  }
  return copy
}
