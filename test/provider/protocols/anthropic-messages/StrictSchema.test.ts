import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { strictSchema } from "../../../../src/provider/protocols/anthropic-messages/StrictSchema.ts"
import { rejectedSchema } from "../../../../src/testing/simulators/anthropic/AnthropicSchemaRules.ts"

describe("a schema that Anthropic can hold an answer to", () => {
  it("has closed objects; what cannot be enforced is told in the description", () => {
    expect(
      strictSchema({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        title: "T",
        description: "D",
        minProperties: 1,
        additionalProperties: true,
        required: ["a"],
        properties: {
          a: { type: "string", format: "date", maxLength: 3 },
          b: { type: "string", format: "regex" },
          c: { type: "array", items: { type: "number", maximum: 2 }, minItems: 1, maxItems: 4 },
          d: { enum: ["x", 1] },
          e: { oneOf: [{ type: "null" }, { $ref: "#/$defs/n" }] }
        },
        $defs: { n: { type: "object" } }
      })
    ).toEqual({
      type: "object",
      title: "T",
      description: "D\n\n{minProperties: 1}",
      additionalProperties: false,
      required: ["a"],
      properties: {
        a: { type: "string", format: "date", description: "{maxLength: 3}" },
        b: { type: "string", description: '{format: "regex"}' },
        c: {
          type: "array",
          items: { type: "number", description: "{maximum: 2}" },
          minItems: 1,
          description: "{maxItems: 4}"
        },
        d: { enum: ["x", 1] },
        e: { anyOf: [{ type: "null" }, { $ref: "#/$defs/n" }] }
      },
      $defs: { n: { type: "object", properties: {}, additionalProperties: false } }
    })
  })

  it("splits a list of types, so that each keeps its own keywords", () => {
    expect(strictSchema({ type: ["object", "null"], description: "D", properties: { a: { type: "string" } } })).toEqual(
      {
        anyOf: [
          { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
          { type: "null" }
        ],
        description: "D"
      }
    )
  })

  it("gives each type of a list only the keywords that constrain it, and tells the others once", () => {
    const items = { type: ["array", "array", "any", "array"], items: { type: "string" } }
    expect(
      strictSchema({ type: ["array", "null", "integer", "null"], items, maxItems: 2, minimum: 3, default: [] })
    ).toEqual({
      anyOf: [
        { type: "array", items: { type: "array", items: { type: "string" } }, description: "{maxItems: 2}" },
        { type: "null" },
        { type: "integer", description: "{minimum: 3}" }
      ],
      description: "{default: []}"
    })
  })

  it("expands no list of types beside what decides alone", () => {
    const types = ["string", "null", "array"]
    expect(strictSchema({ type: types, enum: ["a", null] })).toEqual({ enum: ["a", null] })
    expect(strictSchema({ type: types, const: 1 })).toEqual({ const: 1 })
    expect(strictSchema({ type: types, $ref: "#/$defs/a" })).toEqual({ $ref: "#/$defs/a" })
    expect(strictSchema({ type: types, anyOf: [{ type: "null" }] })).toEqual({ anyOf: [{ type: "null" }] })
    expect(strictSchema({ type: types, allOf: [{ type: "null" }] })).toEqual({ allOf: [{ type: "null" }] })
  })

  it("is at most a few times as long as what was given, however types and subschemas are nested", () => {
    const types = fc.oneof(
      fc.constantFrom("object", "array", "string"),
      fc.array(fc.constantFrom("object", "array", "string", "number", "integer", "null", "any"), { maxLength: 12 })
    )
    const nest = (inner: fc.Arbitrary<Record<string, unknown>>) =>
      fc.record(
        {
          type: types,
          items: inner,
          properties: fc.dictionary(fc.constantFrom("a", "b"), inner, { maxKeys: 2 }),
          anyOf: fc.array(inner, { maxLength: 2 }),
          additionalProperties: inner,
          not: inner,
          minimum: fc.nat(),
          enum: fc.array(fc.string(), { maxLength: 3 }),
          description: fc.string()
        },
        { requiredKeys: ["type"] }
      )
    const schema = nest(nest(nest(fc.record({ type: types }))))
    fc.assert(
      fc.property(schema, (given) => {
        expect(JSON.stringify(strictSchema(given)).length).toBeLessThan(200 + 8 * JSON.stringify(given).length)
      }),
      { numRuns: 200 }
    )
    const nested = (depth: number): Record<string, unknown> =>
      depth === 0 ? { type: "string" } : { type: ["array", "array", "object", "null"], items: nested(depth - 1) }
    expect(JSON.stringify(strictSchema(nested(60))).length).toBeLessThan(200 * 60)
  })

  it("keeps properties that are named like keywords", () => {
    const { properties } = strictSchema({
      type: "object",
      properties: { minimum: { type: "number" }, $ref: { type: "string" } }
    })
    expect(properties).toEqual({ minimum: { type: "number" }, $ref: { type: "string" } })
  })

  it("is never refused by the rules, and stays as it is when it is one already", () => {
    const { schema } = fc.letrec<{ schema: Record<string, unknown>; node: Record<string, unknown> }>((tie) => ({
      schema: tie("node"),
      node: fc.oneof(
        { maxDepth: 3 },
        fc.record(
          {
            type: fc.constantFrom("string", "number", "integer", "boolean", "null"),
            minimum: fc.nat(),
            pattern: fc.string()
          },
          { requiredKeys: ["type"] }
        ),
        fc.record(
          { enum: fc.array(fc.oneof(fc.string(), fc.nat()), { minLength: 1 }), default: fc.string() },
          { requiredKeys: ["enum"] }
        ),
        fc.record(
          { type: fc.constant("array"), items: tie("node"), minItems: fc.nat({ max: 3 }), uniqueItems: fc.boolean() },
          { requiredKeys: ["type"] }
        ),
        fc.record(
          {
            type: fc.constantFrom<unknown>("object", ["object", "null"], ["string", "object"]),
            properties: fc.dictionary(fc.constantFrom("a", "items", "minimum", "$ref"), tie("node"), { maxKeys: 3 }),
            required: fc.constant(["a"]),
            additionalProperties: fc.boolean(),
            patternProperties: fc.constant({}),
            $defs: fc.dictionary(fc.constantFrom("x", "y"), tie("node"), { maxKeys: 1 })
          },
          { requiredKeys: ["type"] }
        ),
        fc.record({ anyOf: fc.array(tie("node"), { minLength: 1, maxLength: 2 }) }),
        fc.record({ not: fc.constant({}) })
      )
    }))
    fc.assert(
      fc.property(schema, (given) => {
        const strict = strictSchema(given)
        expect(rejectedSchema(strict, "schema")).toBeUndefined()
        expect(strictSchema(strict)).toEqual(strict)
      }),
      { numRuns: 500 }
    )
  })

  it("keeps a property whose name an object inherits", () => {
    const given = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}},"additionalProperties":false}'
    )
    expect(JSON.stringify(strictSchema(given))).toBe(JSON.stringify(given))
  })
})
