import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import { expectation, kindOf, kindsOf } from "./Expectation.ts"
import { isObject } from "./Guard.ts"

/** What is wrong with a body, for a person and for a program. */
export interface Fault {
  readonly code: "missing_required_parameter" | "invalid_type" | "invalid_value"
  readonly message: string
  /** A path such as `messages[2].content[0].type`; `null` is the body itself. */
  readonly param: string | null
}

type Path = ReadonlyArray<PropertyKey>

/**
 * Explains why a body was refused, given where a guard refused it. `undefined` says that the schema has no objection.
 * Only the part of the body around that place is looked at, so that a huge body costs no more than a small one.
 */
export const explainer = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = ParseResult.decodeUnknownEither(schema)
  return (json: unknown, path: ReadonlyArray<string | number>): Fault | undefined => {
    const result = decode(excerpt(json, path, 0))
    if (Either.isRight(result)) return undefined
    const found = find(result.left, [])
    return describe({ ...found, path: inWhole(found.path, path) })
  }
}

/** More elements than any bounded list may have, so that a list which is too long still is. */
const mostExcerptItems = 20_001

/** The value with every list off the path cut to its first element, and lists on the path to the element it passes. */
const excerpt = (value: unknown, path: ReadonlyArray<string | number>, depth: number): unknown => {
  const key = path[depth]
  if (Array.isArray(value)) {
    if (typeof key === "number") return [excerpt(value[key], path, depth + 1)]
    return value.slice(0, depth >= path.length ? mostExcerptItems : 1).map((item) => excerpt(item, [], 1))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name === key ? excerpt(item, path, depth + 1) : excerpt(item, [], 1)
    ])
  )
}

/** Puts the positions that `excerpt` lost back into a path. */
const inWhole = (found: Path, path: ReadonlyArray<string | number>): Path => {
  const whole = [...found]
  for (let i = 0; i < found.length && i < path.length; i++) {
    const key = path[i]
    if (typeof key === "number" && found[i] === 0) whole[i] = key
    else if (key !== found[i]) break
  }
  return whole
}

interface Leaf {
  readonly path: Path
  /** `undefined` where nothing was expected to be read: a field is missing or too much. */
  readonly ast: AST.AST | undefined
  readonly actual: unknown
  readonly rule: string | undefined
}

/** The issue that says most: of a union the member that came furthest, else the first. */
const find = (issue: ParseResult.ParseIssue, path: Path): Leaf => {
  switch (issue._tag) {
    case "Pointer":
      return find(issue.issue, path.concat(issue.path))
    case "Composite": {
      const leaves = toArray(issue.issues).map((inner) => find(inner, path))
      const furthest = leaves.reduce((best, leaf) => (leaf.path.length > best.path.length ? leaf : best))
      const isUnion = issue.ast._tag === "Union" && furthest.path.length === path.length
      return isUnion ? { path, ast: issue.ast, actual: issue.actual, rule: undefined } : furthest
    }
    case "Refinement":
      if (issue.kind === "From") return find(issue.issue, path)
      return issue.issue._tag === "Pointer" ? broken(issue.ast, issue.issue, path) : leafOf(issue, path)
    case "Transformation":
      return find(issue.issue, path)
    case "Missing":
      return { path, ast: undefined, actual: undefined, rule: undefined }
    case "Type":
    case "Forbidden":
      return leafOf(issue, path)
    case "Unexpected":
      return { path, ast: undefined, actual: issue.actual, rule: undefined }
  }
}

const leafOf = (issue: ParseResult.Type | ParseResult.Forbidden | ParseResult.Refinement, path: Path): Leaf => ({
  path,
  ast: issue.ast,
  actual: issue.actual,
  rule: undefined
})

/** A rule between fields, which names the field at fault and says itself what it is. */
const broken = (ast: AST.AST, { path: at, actual, issue }: ParseResult.Pointer, path: Path): Leaf => {
  const keys = ([] as Path).concat(at)
  const rule = issue._tag === "Type" ? issue.message : undefined
  return { path: path.concat(keys), ast, actual: keys.reduce<unknown>(valueAt, actual), rule }
}

const valueAt = (value: unknown, key: PropertyKey): unknown => (isObject(value) ? value[String(key)] : undefined)

const toArray = (
  issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>
): ReadonlyArray<ParseResult.ParseIssue> => (isList(issues) ? issues : [issues])
const isList = <A>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

const describe = ({ path, ast, actual, rule }: Leaf): Fault => {
  const param = path.length === 0 ? null : pathText(path)
  const subject = param === null ? "the request body" : `'${param}'`
  const isMissing = rule === undefined ? actual === undefined : (actual ?? null) === null
  if (isMissing) {
    const why = rule === undefined ? "" : ` ${capital(rule)}.`
    return { code: "missing_required_parameter", message: `Missing required parameter: ${subject}.${why}`, param }
  }
  if (rule !== undefined) {
    return { code: "invalid_value", message: `Invalid value for ${subject}: ${rule}.`, param }
  }
  if (ast === undefined) return { code: "invalid_value", message: `Unexpected value for ${subject}.`, param }
  const expected = expectation(ast)
  if (!kindsOf(ast).has(kindOf(actual))) {
    const but = `but got ${kindTexts[kindOf(actual)]} instead`
    return { code: "invalid_type", message: `Invalid type for ${subject}: expected ${expected}, ${but}.`, param }
  }
  const but = typeof actual === "string" && actual.length <= mostEchoed ? `, but got ${JSON.stringify(actual)}` : ""
  return { code: "invalid_value", message: `Invalid value for ${subject}: expected ${expected}${but}.`, param }
}

/** A wrong word is worth repeating, a wrong text is not. */
const mostEchoed = 32
const mostKeyCharacters = 64
const mostPathCharacters = 256

const pathText = (path: Path): string => {
  let text = ""
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`
    else {
      const name = String(key)
      if (/^[A-Za-z_$][\w$]*$/.test(name) && name.length <= mostKeyCharacters) text += text === "" ? name : `.${name}`
      else text += `[${JSON.stringify(name.slice(0, mostKeyCharacters))}]`
    }
  }
  return text.slice(0, mostPathCharacters)
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const kindTexts = {
  string: "a string",
  integer: "an integer",
  decimal: "a decimal number",
  boolean: "a boolean",
  null: "null",
  array: "an array",
  object: "an object"
} as const
