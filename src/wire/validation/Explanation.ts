import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import { type JsonPath, jsonPathText } from "../../domain/JsonPath.ts"
import { expectation, kindOf, kindsOf } from "./Expectation.ts"
import { isObject } from "./Guard.ts"

/** An error of a request body. */
export interface FieldIssue {
  readonly code: "missing_required_parameter" | "invalid_type" | "invalid_value" | "unsupported_parameter"
  readonly message: string
  /** A path such as `messages[2].content[0].type`; `null` is the body itself. */
  readonly param: string | null
}

/**
 * Explains why a body was rejected, given the path at which a guard rejected it. `undefined` means that the schema accepts it.
 * Only the part of the body around the path is decoded, so that a large body costs no more than a small one.
 */
export const explainer = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = ParseResult.decodeUnknownEither(schema)
  return (json: unknown, path: ReadonlyArray<string | number>): FieldIssue | undefined => {
    const result = decode(excerpt(json, path, 0))
    if (Either.isRight(result)) return undefined
    const found = find(result.left, [])
    return describe({ ...found, path: withPositions(found.path, path) })
  }
}

/** More elements than any bounded list may have, so that a list that is too long stays too long. */
const maxExcerptItems = 20_001

/** The value with every list off the path cut to its first element, and lists on the path to the element it passes. */
const excerpt = (value: unknown, path: ReadonlyArray<string | number>, depth: number): unknown => {
  const key = path[depth]
  // guards decide about integers beyond 2^53, which schemas do not know
  if (typeof value === "bigint") return value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
  if (Array.isArray(value)) {
    if (typeof key === "number") return [excerpt(value[key], path, depth + 1)]
    return value.slice(0, depth >= path.length ? maxExcerptItems : 1).map((item) => excerpt(item, [], 1))
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
const withPositions = (found: JsonPath, path: ReadonlyArray<string | number>): JsonPath => {
  const whole = [...found]
  for (let i = 0; i < found.length && i < path.length; i++) {
    const key = path[i]
    if (typeof key === "number" && found[i] === 0) whole[i] = key
    else if (key !== found[i]) break
  }
  return whole
}

interface Leaf {
  readonly path: JsonPath
  /** `undefined` for a missing or unexpected field. */
  readonly ast: AST.AST | undefined
  readonly actual: unknown
  readonly rule: string | undefined
  /** Set for an unexpected field: the fields of its object. */
  readonly known?: ReadonlyArray<string>
}

/** The most specific issue: for a union, that of the member with the longest path, otherwise the first. */
const find = (issue: ParseResult.ParseIssue, path: JsonPath): Leaf => {
  switch (issue._tag) {
    case "Pointer":
      return find(issue.issue, path.concat(issue.path))
    case "Composite": {
      const leaves = toArray(issue.issues).map((inner) => unexpected(inner, issue.ast, path) ?? find(inner, path))
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

const unexpected = (issue: ParseResult.ParseIssue, ast: AST.AST, path: JsonPath): Leaf | undefined => {
  if (issue._tag !== "Pointer" || issue.issue._tag !== "Unexpected" || ast._tag !== "TypeLiteral") return undefined
  const known = ast.propertySignatures.map(({ name }) => String(name))
  return { path: path.concat(issue.path), ast: undefined, actual: issue.issue.actual, rule: undefined, known }
}

const leafOf = (issue: ParseResult.Type | ParseResult.Forbidden | ParseResult.Refinement, path: JsonPath): Leaf => ({
  path,
  ast: issue.ast,
  actual: issue.actual,
  rule: undefined
})

/** A rule between fields, which names the invalid field and has its own message. */
const broken = (ast: AST.AST, { path: at, actual, issue }: ParseResult.Pointer, path: JsonPath): Leaf => {
  const keys = ([] as JsonPath).concat(at)
  const rule = issue._tag === "Type" ? issue.message : undefined
  return { path: path.concat(keys), ast, actual: keys.reduce<unknown>(valueAt, actual), rule }
}

const valueAt = (value: unknown, key: PropertyKey): unknown => (isObject(value) ? value[String(key)] : undefined)

const toArray = (
  issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>
): ReadonlyArray<ParseResult.ParseIssue> => (isList(issues) ? issues : [issues])
const isList = <A>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

const describe = ({ path, ast, actual, known, rule }: Leaf): FieldIssue => {
  const param = path.length === 0 ? null : jsonPathText(path).slice(0, maxParamCharacters)
  const subject = param === null ? "the request body" : `'${param}'`
  if (known !== undefined) {
    const message = `Unknown parameter: ${subject}. Known parameters: ${known.join(", ")}.`
    return { code: "unsupported_parameter", message, param }
  }
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
  const but =
    typeof actual === "string" && actual.length <= maxEchoedCharacters ? `, but got ${JSON.stringify(actual)}` : ""
  return { code: "invalid_value", message: `Invalid value for ${subject}: expected ${expected}${but}.`, param }
}

/** Only short invalid values are repeated in the message. */
const maxEchoedCharacters = 32
const maxParamCharacters = 256

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
