/** Reads what has not been decoded: a value of another shape is empty here, and an issue where it is decoded. */
export type Raw = Readonly<Record<string, unknown>>

export const object = (value: unknown): Raw => (isObject(value) ? value : {})

const isObject = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value)

export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const text = (value: unknown): ReadonlyArray<string> => (typeof value === "string" ? [value] : [])
