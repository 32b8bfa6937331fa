import type { JsonObject } from "../../domain/Chat.ts"

/** The result of a guard for an invalid value. */
export const rejected: unique symbol = Symbol("refused")
export type Rejected = typeof rejected

/** The path at which a guard rejected, innermost key first; empty when the value itself has the wrong kind. */
export type Trail = Array<string | number>

/**
 * Checks a JSON value in one pass. The result is the same value when it has known fields only, and otherwise a copy of the known
 * fields, so that writing the result as JSON never passes on an unchecked field.
 */
export type Guard<A> = (value: unknown, trail: Trail) => A | Rejected

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

/** May be absent, but `null` is rejected. */
export const omittable = <A>(guard: Guard<A>): Field<A | undefined, false> => ({ guard, needed: false })

/** `null` is kept. */
export const nullable = <A>(guard: Guard<A>): Field<A | null | undefined, false> => ({
  guard: orNull(guard),
  needed: false
})

const orNull =
  <A>(guard: Guard<A>): Guard<A | null> =>
  (value, trail) =>
    value === null ? null : guard(value, trail)

export const string: Guard<string> = (value) => (typeof value === "string" ? value : rejected)

export const boolean: Guard<boolean> = (value) => (typeof value === "boolean" ? value : rejected)

export const number =
  (min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): Guard<number> =>
  (given) => {
    const value = typeof given === "bigint" ? Number(given) : given
    return typeof value === "number" && Number.isFinite(value) && value >= min && value <= max ? value : rejected
  }

export const integer =
  (min: number, max = Number.MAX_SAFE_INTEGER): Guard<number> =>
  (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max ? value : rejected

/** An integer of up to 64 bits, as it was sent: one beyond 2^53 is a `bigint`. */
export const int64: Guard<number | bigint> = (value) =>
  typeof value === "bigint" || Number.isSafeInteger(value) ? (value as number | bigint) : rejected

/** A bound of any size. One beyond 2^53, which is above everything that it can bound, becomes the largest safe integer. */
export const bound = (min: number): Guard<number> => {
  const safe = integer(min)
  return (value, trail) => (isBeyondSafe(value) ? Number.MAX_SAFE_INTEGER : safe(value, trail))
}

const isBeyondSafe = (value: unknown): boolean =>
  typeof value === "bigint"
    ? value > 0n
    : typeof value === "number" && Number.isInteger(value) && value > Number.MAX_SAFE_INTEGER

export const literal = <const L extends ReadonlyArray<string | number>>(...values: L): Guard<L[number]> => {
  const known = new Set<unknown>(values)
  const isKnown = (value: unknown): value is L[number] => known.has(value)
  return (value) => (isKnown(value) ? value : rejected)
}

export const jsonObject: Guard<JsonObject> = (value) => (isObject(value) ? value : rejected)

/** A value that also satisfies a rule; `fault` returns the path of the violation (outermost key first). */
export const where =
  <A>(guard: Guard<A>, fault: (value: A) => ReadonlyArray<string> | undefined): Guard<A> =>
  (value, trail) => {
    const checked = guard(value, trail)
    if (checked === rejected) return rejected
    const at = fault(checked)
    if (at === undefined) return checked
    trail.push(...[...at].reverse())
    return rejected
  }

/** The first guard must be one of a scalar value, so that the trail of a rejection is that of the second. */
export const either =
  <A, B>(single: Guard<A>, other: Guard<B>): Guard<A | B> =>
  (value, trail) => {
    const checked = single(value, trail)
    return checked === rejected ? other(value, trail) : checked
  }

export const array =
  <A>(item: Guard<A>, max = Number.POSITIVE_INFINITY, min = 0): Guard<ReadonlyArray<A>> =>
  (value, trail) => {
    if (!Array.isArray(value) || value.length > max || value.length < min) return rejected
    const items: ReadonlyArray<unknown> = value
    let copy: Array<A> | undefined
    for (let i = 0; i < items.length; i++) {
      const checked = item(items[i], trail)
      if (checked === rejected) {
        trail.push(i)
        return rejected
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
    if (!isObject(value)) return rejected
    for (const key in value) {
      if (item(value[key], trail) === rejected) {
        trail.push(key)
        return rejected
      }
    }
    return value as Readonly<Record<string, A>>
  }

/** Unknown fields are left out. A field that is `undefined`, as a request written in code may have it, is absent. */
export const struct = <A extends object>(fields: FieldsOf<A>): Guard<A> => structOf(fields, undefined)

/** Unknown fields are rejected: one that restricts something must not be lost. */
export const closedStruct = <A extends object>(fields: FieldsOf<A>): Guard<A> => structOf(fields, rejected)

const structOf = <A extends object>(fields: FieldsOf<A>, unknown: Rejected | undefined): Guard<A> => {
  const known = new Map<string, Field<unknown, boolean>>(Object.entries(fields))
  let needed = 0
  for (const field of known.values()) if (field.needed) needed++
  return (value, trail) => {
    if (!isObject(value)) return rejected
    let copy: Record<string, unknown> | undefined
    let seen = 0
    for (const key in value) {
      const before = value[key]
      const field = known.get(key)
      const isAbsent = before === undefined
      const checked = isAbsent ? undefined : field === undefined ? unknown : field.guard(before, trail)
      if (checked === rejected) {
        trail.push(key)
        return rejected
      }
      if (field?.needed === true && checked !== undefined) seen++
      if (copy === undefined && (field === undefined || isAbsent || checked !== before)) copy = upTo(value, key)
      if (copy !== undefined && checked !== undefined) copy[key] = checked
    }
    return seen === needed ? ((copy ?? value) as A) : rejected
  }
}

/** One of several structs, selected by the string in `tag`. */
export const tagged = <A>(tag: string, members: { readonly [name: string]: Guard<A> }): Guard<A> => {
  const byName = new Map(Object.entries(members))
  return (value, trail) => {
    if (!isObject(value)) return rejected
    const name = value[tag]
    const member = typeof name === "string" ? byName.get(name) : undefined
    if (member !== undefined) return member(value, trail)
    if (name !== undefined) trail.push(tag)
    return rejected
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields before `end`, all of which are known and valid. */
const upTo = (value: JsonObject, end: string): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    if (key === end) break
    copy[key] = value[key]
  }
  return copy
}
