import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../src/domain/Chat.ts"
import { exceedsStrictLimits } from "../../src/domain/StrictSchema.ts"

const object = (properties: JsonObject, required: ReadonlyArray<string> = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required
})

const some = (count: number, schema: JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schema]))

const exceeds = (schemas: ReadonlyArray<JsonObject>, strict: boolean | null = true, format?: JsonObject): boolean =>
  exceedsStrictLimits({
    tools: schemas.map((parameters, at) => ({ type: "function", function: { name: `f${at}`, parameters, strict } })),
    responseFormat: format && { type: "json_schema", json_schema: { name: "n", schema: format } }
  })

const text = { type: "string" }
const nullable = { type: ["string", "null"] }

describe("The limits of strict tools of one request at Claude", () => {
  it("are twenty of them", () => {
    expect(exceeds(Array(20).fill(object({})))).toBe(false)
    expect(exceeds(Array(21).fill(object({})))).toBe(true)
    expect(exceeds(Array(21).fill(object({})), false)).toBe(false)
    expect(exceeds(Array(21).fill(object({})), null)).toBe(false)
  })

  it.each([
    ["optional properties", 24, text, []],
    ["unions of types", 16, nullable, undefined],
    ["unions of schemas", 16, { anyOf: [text, { type: "null" }] }, undefined],
    ["unions of which one schema holds", 16, { oneOf: [text, { type: "null" }] }, undefined]
  ] as const)("are so many %s, of all tools and the response format together", (_, most, schema, required) => {
    const one = (count: number) => object(some(count, schema), required)
    expect(exceeds([one(most)])).toBe(false)
    expect(exceeds([one(most + 1)])).toBe(true)
    expect(exceeds([one(most / 2), one(most / 2)])).toBe(false)
    expect(exceeds([one(most / 2), one(most / 2 + 1)])).toBe(true)
    expect(exceeds([one(most / 2)], true, one(most / 2))).toBe(false)
    expect(exceeds([one(most / 2)], true, one(most / 2 + 1))).toBe(true)
    // a format alone is not a matter of tools
    expect(exceeds([], true, one(most + 1))).toBe(false)
  })

  it.each([
    ["items", (inner: JsonObject) => object({ a: { type: "array", items: inner } })],
    ["properties", (inner: JsonObject) => object({ a: object({ b: inner }) })],
    ["choices", (inner: JsonObject) => object({ a: { anyOf: [inner] } })],
    ["combinations", (inner: JsonObject) => object({ a: { allOf: [inner] } })],
    ["definitions", (inner: JsonObject) => ({ ...object({}), $defs: { inner } })],
    ["older definitions", (inner: JsonObject) => ({ ...object({}), definitions: { inner } })]
  ])("count what is within %s", (_, around) => {
    expect(exceeds([around(object(some(16, nullable)))])).toBe(false)
    expect(exceeds([around(object(some(17, nullable)))])).toBe(true)
  })

  it("do not count lists of values, and lists of one", () => {
    expect(exceeds([object(some(30, { type: ["string", "null"], enum: ["a", null] }))])).toBe(false)
    expect(exceeds([object(some(30, { type: ["string", "null"], const: "a" }))])).toBe(false)
    expect(exceeds([object(some(30, { anyOf: [text] }))])).toBe(false)
    expect(exceeds([object(some(30, { type: ["string"] }))])).toBe(false)
  })
})
