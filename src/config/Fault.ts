import * as Data from "effect/Data"
import type * as ParseResult from "effect/ParseResult"
import * as SchemaAST from "effect/SchemaAST"

/** One thing that is wrong with the operator's settings. Neither part ever holds a value, which could be a secret. */
export interface Fault {
  /** An environment variable, or a JSON path into the configuration file such as `providers[0].models[1].id`. */
  readonly path: string
  readonly message: string
}

/** The service cannot start: all that must be put right, at once. */
export class ConfigurationFault extends Data.TaggedError("ConfigurationFault")<{
  readonly faults: ReadonlyArray<Fault>
}> {
  override get message(): string {
    return this.faults.map((fault) => `${fault.path}: ${fault.message}`).join("\n")
  }
}

export type Path = ReadonlyArray<string | number>

export const fault = (path: Path, message: string): Fault => ({ path: pathText(path), message })

/** Keys of a file are the operator's text: cut, and quoted unless they are plain names. */
export const pathText = (path: Path): string => {
  let text = ""
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`
    else if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(step) && step.length <= mostKeyLetters)
      text += text === "" ? step : `.${step}`
    else text += `[${JSON.stringify(step.slice(0, mostKeyLetters))}]`
  }
  return text === "" ? "(the file)" : text
}

const mostKeyLetters = 100

/**
 * What a schema found wrong, in our own words. The library's formatters print the value they were given; these name only
 * what was expected, taken from the schema's `title`.
 */
export const faultsOfIssue = (issue: ParseResult.ParseIssue, at: Path = []): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsOfIssue(issue.issue, [...at, ...steps(issue.path)])
    case "Unexpected":
      return [fault(at, "is not a known key")]
    case "Missing":
      return [fault(at, "is required")]
    case "Composite":
      return SchemaAST.isUnion(issue.ast)
        ? faultsOfUnion(issue, at)
        : list(issue.issues).flatMap((one) => faultsOfIssue(one, at))
    case "Refinement":
      return issue.kind === "From" ? faultsOfIssue(issue.issue, at) : [fault(at, `must be ${expected(issue.ast)}`)]
    case "Transformation":
      return faultsOfIssue(issue.issue, at)
    case "Type":
    case "Forbidden":
      return [fault(at, `must be ${expected(issue.ast)}`)]
  }
}

/** The alternatives here are a thing or null: what is wrong inside the thing says more than that it is not null. */
const faultsOfUnion = (issue: ParseResult.Composite, at: Path): ReadonlyArray<Fault> => {
  const inside = list(issue.issues).flatMap((one) => faultsOfIssue(one, at))
  const deeper = inside.filter((one) => one.path !== pathText(at))
  return deeper.length > 0 ? deeper : [fault(at, `must be ${expected(issue.ast)}`)]
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

const steps = (path: ParseResult.Path): Path =>
  (typeof path === "object" ? path : [path]).map((step) => (typeof step === "number" ? step : String(step)))

const list = (issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>): ReadonlyArray<ParseResult.ParseIssue> =>
  "_tag" in issues ? [issues] : issues
