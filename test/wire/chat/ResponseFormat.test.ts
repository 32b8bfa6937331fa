import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { decode } from "../../../src/wire/chat/ChatRequest.ts"

const read = (response_format: unknown) =>
  decode({ model: "auto", messages: [{ role: "user", content: "hi" }], response_format })
const schema = { type: "object" }

describe("a response format", () => {
  it.each([
    { type: "text" },
    { type: "json_object", future: 1 },
    { type: "json_schema", json_schema: { schema } },
    { type: "json_schema", json_schema: { name: "n", schema, description: null, strict: true, future: 1 } }
  ])("%j is taken as it is", (format) => {
    expect(Either.getOrThrow(read(format)).responseFormat).toEqual(format)
  })

  it.each<[object, string]>([
    [{}, "missing_required_parameter response_format.type"],
    [{ type: "banana" }, "invalid_value response_format.type"],
    [{ type: 1 }, "invalid_value response_format.type"],
    [{ type: "json_schema" }, "missing_required_parameter response_format.json_schema"],
    [{ type: "json_schema", json_schema: "x" }, "invalid_value response_format.json_schema"],
    [
      { type: "json_schema", json_schema: { name: "n" } },
      "missing_required_parameter response_format.json_schema.schema"
    ],
    [{ type: "json_schema", schema }, "missing_required_parameter response_format.json_schema"],
    [{ type: "json_schema", json_schema: { schema: [] } }, "invalid_value response_format.json_schema.schema"],
    [{ type: "json_schema", json_schema: { schema, name: 1 } }, "invalid_value response_format.json_schema.name"],
    [
      { type: "json_schema", json_schema: { schema, strict: "yes" } },
      "invalid_value response_format.json_schema.strict"
    ]
  ])("%j is refused", (format, expected) => {
    const { code, param } = Either.getOrThrow(Either.flip(read(format)))
    expect(`${code} ${param}`).toBe(expected)
  })
})
