import type * as ParseResult from "effect/ParseResult"
import * as SchemaAST from "effect/SchemaAST"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { type JsonPath, jsonPathText } from "../domain/JsonPath.ts"
import { nearest } from "../domain/Nearest.ts"

export const issueAt = (path: JsonPath, message: string): ConfigIssue => ({ path: pathText(path), message })

const pathText = (path: JsonPath): string => (path.length === 0 ? "(the file)" : jsonPathText(path))

/**
 * The issues of a decoded file. Effect's formatters print the value that was given; these messages name only what was
 * expected, taken from the schema's `title`.
 */
export const issuesOf = (issue: ParseResult.ParseIssue, at: JsonPath = []): ReadonlyArray<ConfigIssue> => {
  switch (issue._tag) {
    case "Pointer":
      return issuesOf(issue.issue, [...at, ...keysOf(issue.path)])
    case "Unexpected":
      return [issueAt(at, "is not a known key")]
    case "Missing":
      return [issueAt(at, "is required")]
    case "Composite":
      return SchemaAST.isUnion(issue.ast)
        ? issuesOfUnion(issue, at)
        : list(issue.issues).flatMap((one) => issuesOfUnknownKey(one, issue.ast, at) ?? issuesOf(one, at))
    case "Refinement":
      return issue.kind === "From" ? issuesOf(issue.issue, at) : [issueAt(at, `must be ${expected(issue.ast)}`)]
    case "Transformation":
      return issuesOf(issue.issue, at)
    case "Type":
    case "Forbidden":
      return [issueAt(at, `must be ${expected(issue.ast)}`)]
  }
}

const issuesOfUnknownKey = (
  issue: ParseResult.ParseIssue,
  ast: SchemaAST.AST,
  at: JsonPath
): ReadonlyArray<ConfigIssue> | undefined => {
  if (issue._tag !== "Pointer" || issue.issue._tag !== "Unexpected" || ast._tag !== "TypeLiteral") return undefined
  const path = [...at, ...keysOf(issue.path)]
  const known = ast.propertySignatures.map(({ name }) => String(name))
  return [issueAt(path, `is not a known key${hintOf(String(path.at(-1)), known)}`)]
}

const hintOf = (key: string, known: ReadonlyArray<string>): string => {
  if (known.includes("apiKeyEnv") && /^(?:api_?)?(?:key|token|secret)$/i.test(key)) {
    return ": put the key into an environment variable and name that variable in apiKeyEnv"
  }
  const near = nearest(key, known)
  return near === undefined ? "" : `; did you mean ${near}?`
}

/** Every union here is nullable `T`; the issue inside `T` is more useful than "expected null". */
const issuesOfUnion = (issue: ParseResult.Composite, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  const inside = list(issue.issues).flatMap((one) => issuesOf(one, at))
  const deeper = inside.filter((one) => one.path !== pathText(at))
  return deeper.length > 0 ? deeper : [issueAt(at, `must be ${expected(issue.ast)}`)]
}

const expected = (ast: SchemaAST.AST): string => {
  const title = SchemaAST.getTitleAnnotation(ast)
  if (title._tag === "Some") return title.value
  switch (ast._tag) {
    case "Union":
      return [...new Set(ast.types.filter((one) => one._tag !== "UndefinedKeyword").map(expected))].join(", or ")
    case "Literal":
      return typeof ast.literal === "string" ? ast.literal : String(ast.literal)
    case "TypeLiteral":
      return "an object"
    case "TupleType":
      return "a list"
    case "Refinement":
    case "Transformation":
      return expected(ast.from)
    case "StringKeyword":
      return "a string"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "true or false"
    default:
      return "another kind of value"
  }
}

const keysOf = (path: ParseResult.Path): JsonPath => (typeof path === "object" ? path : [path])

const list = (issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>): ReadonlyArray<ParseResult.ParseIssue> =>
  "_tag" in issues ? [issues] : issues
