import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../../src/domain/Chat.ts"
import { jsonSchema, openApiSchema } from "../../../../src/provider/protocols/gemini/Schema.ts"
import { faultOfSchema } from "../../../../src/testing/simulators/gemini/GeminiSchemaRules.ts"

const converted = (schema: JsonObject): JsonObject => {
  const result = openApiSchema(schema)
  if (result === undefined) throw new Error("too large")
  return result
}

describe("a schema in the OpenAPI subset", () => {
  it("loses keywords that are not in it, never properties that are named like them", () => {
    const schema = {
      $schema: "s",
      $id: "i",
      type: "object",
      additionalProperties: false,
      patternProperties: { x: {} },
      properties: {
        const: { type: "string", const: "a" },
        $ref: { type: "integer", exclusiveMinimum: 0, uniqueItems: true },
        additionalProperties: { type: "boolean" },
        propertyNames: { type: "array", items: { type: "string", format: "uri" }, uniqueItems: true }
      },
      required: ["const", "missing"]
    }
    expect(converted(schema)).toEqual({
      type: "OBJECT",
      properties: {
        const: { type: "STRING", enum: ["a"] },
        $ref: { type: "INTEGER", minimum: 0 },
        additionalProperties: { type: "BOOLEAN" },
        propertyNames: { type: "ARRAY", items: { type: "STRING" } }
      },
      required: ["const"],
      propertyOrdering: ["const", "$ref", "additionalProperties", "propertyNames"]
    })
  })

  it("has its references in place, the recursive ones cut", () => {
    const schema = {
      type: "object",
      properties: {
        tag: { $ref: "#/$defs/a~1b", description: "Which." },
        node: { $ref: "#/$defs/node" },
        self: { $ref: "#" },
        nowhere: { $ref: "#/$defs/none" }
      },
      $defs: {
        "a/b": { type: "string", enum: ["x"] },
        node: { type: "object", properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } } }
      }
    }
    expect(converted(schema)["properties"]).toEqual({
      tag: { type: "STRING", enum: ["x"], description: "Which." },
      node: {
        type: "OBJECT",
        properties: { next: { type: "OBJECT", nullable: true } },
        propertyOrdering: ["next"]
      },
      self: { type: "OBJECT" },
      nowhere: { type: "STRING" }
    })
  })

  it("says null, several types and variants in its own words", () => {
    expect(converted({ type: ["string", "null"] })).toEqual({ type: "STRING", nullable: true })
    expect(converted({ type: ["string", "number"], description: "d" })).toEqual({
      description: "d",
      anyOf: [{ type: "STRING" }, { type: "NUMBER" }]
    })
    expect(converted({ oneOf: [{ type: "integer" }, { type: "null" }] })).toEqual({ type: "INTEGER", nullable: true })
    expect(converted({ allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }], type: "object" })).toEqual({
      type: "OBJECT",
      properties: { a: { type: "STRING" } },
      required: ["a"],
      propertyOrdering: ["a"]
    })
    expect(converted({ enum: [1, 2], description: "How many." })).toEqual({
      type: "NUMBER",
      description: "How many. One of: 1, 2."
    })
  })

  it("is refused when its references multiply without end", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `d${n}`,
        { type: "object", properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } }
      ])
    )
    expect(openApiSchema({ $ref: "#/$defs/d0", $defs })).toBeUndefined()
  })

  it("is always one that the provider takes", () => {
    const key = fc.constantFrom("a", "const", "$ref", "items", "type", "enum")
    const { schema } = fc.letrec<{ schema: JsonObject; leaf: JsonObject }>((tie) => ({
      leaf: fc.record(
        {
          type: fc.constantFrom<unknown>("string", "integer", "number", "boolean", "null", "object", "array", [
            "string",
            "null"
          ]),
          enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 3 }),
          const: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
          format: fc.constantFrom("date-time", "uri", "int32"),
          minimum: fc.integer(),
          exclusiveMaximum: fc.integer(),
          $ref: fc.constantFrom("#", "#/$defs/a", "#/$defs/b", "#/properties/a", "https://elsewhere"),
          uniqueItems: fc.boolean(),
          default: fc.string()
        },
        { requiredKeys: [] }
      ),
      schema: fc.oneof(
        { maxDepth: 4 },
        tie("leaf"),
        fc.record(
          {
            type: fc.constantFrom("object", "array", "string"),
            properties: fc.dictionary(key, tie("schema"), { maxKeys: 3 }),
            required: fc.array(key, { maxLength: 2 }),
            items: tie("schema"),
            prefixItems: fc.array(tie("schema"), { maxLength: 2 }),
            anyOf: fc.array(tie("schema"), { maxLength: 3 }),
            oneOf: fc.array(tie("schema"), { maxLength: 2 }),
            allOf: fc.array(tie("schema"), { maxLength: 2 }),
            additionalProperties: tie("schema"),
            $defs: fc.dictionary(fc.constantFrom("a", "b"), tie("schema"))
          },
          { requiredKeys: [] }
        )
      )
    }))
    fc.assert(
      fc.property(schema, (given) => {
        const result = openApiSchema(given)
        if (result !== undefined) expect(faultOfSchema(result, "schema")).toBeUndefined()
      }),
      { numRuns: 200 }
    )
  })
})

describe("a JSON schema", () => {
  it("keeps all but its dialect, and binds a constant as an enumeration", () => {
    const schema = {
      $schema: "s",
      type: "object",
      properties: { const: { const: "a" }, $schema: { type: "string", minLength: 2 } },
      patternProperties: { "^const$": { const: 1 } },
      additionalProperties: false,
      anyOf: [{ required: ["const"] }, true],
      default: { const: "kept", $schema: "kept" },
      $defs: { x: { const: null } }
    }
    expect(jsonSchema(schema)).toEqual({
      type: "object",
      properties: { const: { enum: ["a"] }, $schema: { type: "string", minLength: 2 } },
      patternProperties: { "^const$": { enum: [1] } },
      additionalProperties: false,
      anyOf: [{ required: ["const"] }, true],
      default: { const: "kept", $schema: "kept" },
      $defs: { x: { enum: [null] } }
    })
  })

  it("has references as the provider takes them: to `$defs`, and with nothing beside them", () => {
    const schema = {
      type: "object",
      properties: {
        tree: { $ref: "#/definitions/tree", description: "The tree.", title: "Tree", nullable: true },
        $ref: { type: "string", description: "no reference" },
        "a/b": { $ref: "#/definitions/a~1b" }
      },
      definitions: {
        tree: { type: "object", properties: { left: { $ref: "#/definitions/tree", default: null } } },
        "a/b": { const: 1 }
      },
      $defs: { other: { anyOf: [{ $ref: "#" }, { type: "null" }] } }
    }
    const $defs = {
      other: { anyOf: [{ $ref: "#" }, { type: "null" }] },
      tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" } } },
      "a/b": { enum: [1] }
    }
    const $ref = { type: "string", description: "no reference" }
    const ab = { $ref: "#/$defs/a~1b" }
    expect(jsonSchema(schema)).toEqual({
      type: "object",
      properties: { tree: { $ref: "#/$defs/tree" }, $ref, "a/b": ab },
      $defs
    })
    const forTools = jsonSchema(schema, new Set(["description"]))
    expect(forTools["properties"]).toEqual({
      tree: { $ref: "#/$defs/tree", description: "The tree." },
      $ref,
      "a/b": ab
    })
    // two schemas of one name cannot both stand in `$defs`
    const both = { definitions: { a: { type: "string" } }, $defs: { a: { type: "null" } } }
    expect(jsonSchema(both)).toEqual(both)
  })

  it("has the one part of an allOf in its place, as pydantic describes a reference", () => {
    const schema = {
      properties: {
        size: { allOf: [{ $ref: "#/$defs/size" }], description: "How large.", default: "s", title: "Size" },
        name: { allOf: [{ allOf: [{ type: "string", const: "x" }] }], description: "A name." },
        both: { allOf: [{ type: "object" }, { required: ["a"] }] },
        other: { allOf: [{ type: "string", title: "a" }], title: "b" }
      },
      $defs: { size: { enum: ["s", "l"], type: "string" } }
    }
    const { both, other } = schema.properties
    const name = { type: "string", enum: ["x"], description: "A name." }
    expect(jsonSchema(schema)["properties"]).toEqual({ size: { $ref: "#/$defs/size" }, name, both, other })
    const forTools = jsonSchema(schema, new Set(["description"]))
    expect(forTools["properties"]).toMatchObject({ size: { $ref: "#/$defs/size", description: "How large." } })
    const former = { items: { allOf: [{ $ref: "#/definitions/a" }] }, definitions: { a: { type: "string" } } }
    expect(jsonSchema(former)).toEqual({ items: { $ref: "#/$defs/a" }, $defs: { a: { type: "string" } } })
  })
})

describe("a schema in either", () => {
  it("keeps a property whose name an object inherits", () => {
    const given = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(jsonSchema(given))).toBe(JSON.stringify(given))
    expect(JSON.stringify(converted(given)["properties"])).toBe('{"__proto__":{"type":"STRING"}}')
  })
})
