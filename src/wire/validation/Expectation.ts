import * as Option from "effect/Option"
import * as AST from "effect/SchemaAST"

/** The kinds of JSON values that a schema can distinguish. */
export type Kind = "string" | "integer" | "decimal" | "boolean" | "null" | "array" | "object"

export const kindOf = (value: unknown): Kind => {
  switch (typeof value) {
    case "string":
      return "string"
    case "boolean":
      return "boolean"
    case "number":
      return Number.isInteger(value) ? "integer" : "decimal"
    default:
      return value === null || value === undefined ? "null" : Array.isArray(value) ? "array" : "object"
  }
}

/** The kinds of which a schema accepts at least one value. */
export const kindsOf = (ast: AST.AST): ReadonlySet<Kind> => {
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return new Set(["string"])
    case "NumberKeyword":
      return new Set(["integer", "decimal"])
    case "BooleanKeyword":
      return new Set(["boolean"])
    case "Literal":
      return new Set([kindOf(ast.literal)])
    case "TupleType":
      return new Set(["array"])
    case "TypeLiteral":
      return new Set(["object"])
    case "Union":
      return new Set(ast.types.flatMap((member) => [...kindsOf(member)]))
    case "Refinement":
      return rangeOf(ast)["type"] === "integer" ? new Set(["integer"]) : kindsOf(ast.from)
    case "Transformation":
      return kindsOf(ast.from)
    case "Suspend":
      return kindsOf(ast.f())
    default:
      return new Set()
  }
}

/** Describes what a schema accepts, for use after "expected". Uses the schema only, never the request. */
export const expectation = (ast: AST.AST): string => {
  const literals = literalsOf(ast)
  const others = othersOf(ast)
  const words = [...new Set(others.map(single))]
  if (literals.length === 1) words.unshift(literals.join(""))
  if (literals.length > 1) words.unshift(`one of ${literals.join(", ")}`)
  return words.join(" or ")
}

const single = (ast: AST.AST): string => {
  switch (ast._tag) {
    case "StringKeyword":
      return "a string"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "a boolean"
    case "TupleType":
      return "an array"
    case "TypeLiteral":
      return "an object"
    case "Refinement":
      return bounded(ast)
    case "Transformation":
      return single(ast.from)
    case "Suspend":
      return single(ast.f())
    default:
      return "another value"
  }
}

const bounded = (ast: AST.Refinement): string => {
  const range = rangeOf(ast)
  const isUnbounded = range["minimum"] === undefined && range["maximum"] === undefined
  const noun =
    range["type"] !== "integer" ? single(ast.from) : isUnbounded ? "an integer of at most 64 bits" : "an integer"
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = range
  if (minimum !== undefined && maximum !== undefined) return `${noun} from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${noun} of at least ${minimum}`
  if (maxLength !== undefined) return `${noun} of ${minLength ?? 0} to ${maxLength} characters`
  if (minItems !== undefined) return `${noun} of ${minItems} to ${maxItems} items`
  if (maxItems !== undefined) return `${noun} of at most ${maxItems} items`
  if (range["type"] === "number") return "a finite number"
  if (pattern === undefined) return noun
  return Option.getOrElse(AST.getTitleAnnotation(ast), () => `${noun} that matches ${pattern}`)
}

const literalsOf = (ast: AST.AST): ReadonlyArray<string> => {
  if (ast._tag === "Union") return ast.types.flatMap(literalsOf)
  if (ast._tag !== "Literal" || ast.literal === null) return []
  return [typeof ast.literal === "string" ? `'${ast.literal}'` : String(ast.literal)]
}

const othersOf = (ast: AST.AST): ReadonlyArray<AST.AST> => {
  if (ast._tag === "Literal" || ast._tag === "UndefinedKeyword") return []
  return ast._tag === "Union" ? ast.types.flatMap(othersOf) : [ast]
}

const rangeOf = (ast: AST.Refinement): Readonly<Record<string, unknown>> => {
  const schema = Option.getOrElse(AST.getJSONSchemaAnnotation(ast), () => ({}))
  return { ...schema }
}
