import * as HttpApi from "@effect/platform/HttpApi"
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as Cause from "effect/Cause"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { describe, expect, it } from "vitest"
import { AccountApi } from "../../../src/http/account/AccountApi.ts"
import { errorOf } from "../../../src/http/account/Failures.ts"

/** Each is wrong for some field: by its kind, its length, its characters or its size. */
const wrong: ReadonlyArray<unknown> = [
  "",
  " ",
  "\0",
  "Not This!",
  "x".repeat(10_000),
  -1,
  0.5,
  1e15,
  true,
  null,
  [],
  {},
  ["\0"],
  [" "],
  [1],
  Array.from({ length: 2_001 }, () => "x")
]

type Path = ReadonlyArray<PropertyKey>

/** A field of a request, and the request in which everything else is missing. */
interface Place {
  readonly path: Path
  readonly put: (value: unknown) => unknown
}

const placesOf = (ast: AST.AST): ReadonlyArray<Place> => {
  switch (ast._tag) {
    case "TypeLiteral": {
      // by which the members of a union are told apart
      const kinds = ast.propertySignatures.flatMap(({ name, type }) =>
        AST.isLiteral(type) ? [[name, type.literal]] : []
      )
      return ast.propertySignatures.flatMap(({ name, type }) =>
        [here, ...placesOf(type)].map(({ path, put }) => ({
          path: [name, ...path],
          put: (value: unknown) => ({ ...Object.fromEntries(kinds), [name]: put(value) })
        }))
      )
    }
    case "TupleType":
      return ast.rest.flatMap(({ type }) =>
        [here, ...placesOf(type)].map(({ path, put }) => ({
          path: [0, ...path],
          put: (value: unknown) => [put(value)]
        }))
      )
    case "Union":
      return ast.types.flatMap(placesOf)
    case "Refinement":
    case "Transformation":
      return placesOf(ast.from)
    default:
      return []
  }
}
const here: Place = { path: [], put: (value) => value }

interface Part {
  readonly name: string
  readonly schema: Schema.Schema<unknown, unknown>
}

const parts: ReadonlyArray<Part> = (() => {
  const found: Array<Part> = []
  const add = (name: string, schema: Option.Option<Schema.Schema.All>) => {
    if (Option.isSome(schema)) found.push({ name, schema: schema.value as Part["schema"] })
  }
  HttpApi.reflect(AccountApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      add(`path of ${endpoint.name}`, endpoint.pathSchema)
      add(`query of ${endpoint.name}`, endpoint.urlParamsSchema)
      add(`headers of ${endpoint.name}`, endpoint.headersSchema)
      add(`body of ${endpoint.name}`, endpoint.payloadSchema)
    }
  })
  return found
})()

/** What a client reads of the field at this place, where the value is not for it. */
const messageOf = ({ schema }: Part, { path, put }: Place, value: unknown): string | undefined => {
  const decoded = ParseResult.decodeUnknownEither(schema)(put(value), { errors: "all" })
  if (Either.isRight(decoded)) return undefined
  const issues = ParseResult.ArrayFormatter.formatIssueSync(decoded.left)
  const ofField = issues.filter((issue) => path.every((key, at) => issue.path[at] === key))
  if (ofField.length === 0) return undefined
  return errorOf(Cause.fail(new HttpApiDecodeError({ issues: ofField, message: "" })))?.message
}

/** The rule alone: kinds, amounts, lengths, characters and choices. */
const rule =
  /^(?:"|an? |a \w|string|number|boolean|null|at least|at most|text |\d+ (?:to|hexadecimal|printable)|Expected)/

const isRule = (message: string): boolean => {
  if (/^(?:Missing required|Unsupported) parameter: /.test(message)) return true
  const [, reason] = /^Invalid value for (?:'[^']*'|the request): (.*)\.$/s.exec(message) ?? []
  if (reason === "not a next_cursor of this list") return true
  const [, expected = ""] = /^Expected (.*)$/s.exec(reason ?? "") ?? []
  return (
    rule.test(expected) &&
    !/matching the pattern|character\(s\)|<|refinement|[A-Z]\w*Id\b/.test(expected.replaceAll("`<prefix>/*`", ""))
  )
}

describe("an invalid field of a request to the account API", () => {
  it("is found in every part of every endpoint", () => {
    expect(parts.length).toBeGreaterThan(120)
    expect(parts.flatMap(({ schema }) => placesOf(schema.ast)).length).toBeGreaterThan(300)
  })

  it("is told by its rule, never by the name or the description of a schema", () => {
    const told = parts.flatMap((part) =>
      [here, ...placesOf(part.schema.ast)].flatMap((place) =>
        wrong.flatMap((value) => {
          const message = messageOf(part, place, value)
          return message === undefined || isRule(message) ? [] : [`${part.name}: ${message}`]
        })
      )
    )
    expect([...new Set(told)]).toEqual([])
  })

  it.each([
    ["body of createRoutingConfiguration", "slug", "Not This!", "Expected 1 to 120 characters of a-z, 0-9 and '-'"],
    ["path of getRoutingConfiguration", "slug", "Not This!", "Expected 1 to 120 characters of a-z, 0-9 and '-'"],
    ["body of createCheckout", "credit_amount_cents", 5, "Expected an integer from 1000 to 100000"],
    ["body of createCheckout", "credit_amount_cents", 1_000.5, "Expected an integer from 1000 to 100000"],
    ["body of createCredit", "amount_microusd", 0, "Expected an integer from 1 to 1000000000000"],
    [
      "headers of createCredit",
      "idempotency-key",
      "ä",
      "Expected 1 to 255 printable ASCII characters, of which the first is no space"
    ],
    ["query of listKeys", "limit", "0", "Expected an integer from 1 to 100"],
    ["query of listKeys", "limit", "many", "Expected an integer from 1 to 100"],
    ["body of putCapture", "sampling_rate", 2, "Expected a number from 0 to 1"],
    ["body of saveArtifact", "name", "a/b", "Expected a file name without slashes and control characters"],
    ["body of saveArtifact", "content", "x".repeat(1_048_577), "Expected at most 1048576 bytes of UTF-8"],
    ["body of sendMessage", "content", "x".repeat(1_048_577), "Expected 1 to 1048576 characters"],
    ["body of replayAnalysis", "max_spend_microusd", 0, "Expected an integer from 1 to 1000000000"]
  ])("%s: %s", (name, field, value, expected) => {
    const part = parts.find((one) => one.name === name) ?? expect.fail(name)
    const place: Place = { path: [field], put: (sent) => ({ [field]: sent }) }
    expect(messageOf(part, place, value)).toBe(`Invalid value for '${field}': ${expected}.`)
  })
})
