import type { JsonObject } from "../../domain/Chat.ts"
import { type InvalidCode, InvalidRequest } from "../../domain/GatewayError.ts"
import { isObject } from "./Guard.ts"

/** Throws the error of a request, which the `decode` of its format catches. */
export const reject = (code: InvalidCode, param: string, message: string): never => {
  throw new InvalidRequest({ code, param, message })
}

/** The error of a part, as one of the whole parameter; its message still names the part. */
export const asWhole = <A>(param: string, read: () => A): A => {
  try {
    return read()
  } catch (fault) {
    throw fault instanceof InvalidRequest
      ? new InvalidRequest({ code: fault.code, message: fault.message, param })
      : fault
  }
}

export const object = (value: unknown, param: string): JsonObject =>
  isObject(value) ? value : mistyped(param, "an object", value)

export const array = (value: unknown, param: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : mistyped(param, "an array", value)

/** Of a field that may be a string too, which has been looked for before. */
export const arrayOrText = (value: unknown, param: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : mistyped(param, "a string or an array", value)

export const string = (value: unknown, param: string): string =>
  typeof value === "string" ? value : mistyped(param, "a string", value)

export const boolean = (value: unknown, param: string): boolean =>
  typeof value === "boolean" ? value : mistyped(param, "a boolean", value)

export const nonEmpty = (value: unknown, param: string): string =>
  string(value, param) || reject("invalid_value", param, `Invalid value for '${param}': it must not be empty.`)

/** Null means absent. */
export const optional = <A>(
  value: unknown,
  param: string,
  read: (value: unknown, param: string) => A
): A | undefined => (value === undefined || value === null ? undefined : read(value, param))

export const oneOf =
  <const A extends string>(...allowed: ReadonlyArray<A>) =>
  (value: unknown, param: string): A => {
    const text = string(value, param)
    const expected = `expected one of ${allowed.map((one) => `'${one}'`).join(", ")}`
    return (
      allowed.find((one) => one === text) ??
      reject("invalid_value", param, `Invalid value for '${param}': ${expected}, but got '${cut(text)}'.`)
    )
  }

/** For messages: `'a', 'b' or 'c'`. */
export const choiceOf = (names: ReadonlyArray<string>): string =>
  names
    .map((name) => `'${name}'`)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1")

/** Shortens client text for an error message. */
export const cut = (text: string): string => (text.length <= 64 ? text : `${text.slice(0, 64).toWellFormed()}…`)

const mistyped = (param: string, expected: string, value: unknown): never =>
  value === undefined
    ? reject("missing_required_parameter", param, `Missing required parameter: '${param}'.`)
    : reject("invalid_type", param, `Invalid type for '${param}': expected ${expected}.`)
