import { describe, expect, it } from "@effect/vitest"
import * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import { ChatCompletion, ChatCompletionChunk } from "../../src/wire/chat/ChatAnswerSchema.ts"
import { ChatCompletionRequest } from "../../src/wire/chat/ChatRequestSchema.ts"
import { AnthropicErrorResponse, ErrorResponse } from "../../src/wire/ErrorBody.ts"
import { MessagesEvent } from "../../src/wire/messages/MessagesEventSchema.ts"
import { Message } from "../../src/wire/messages/MessagesObjectSchema.ts"
import { CountTokensRequest, MessagesRequest } from "../../src/wire/messages/MessagesRequestSchema.ts"
import { AnthropicModelList } from "../../src/wire/models/AnthropicModelListSchema.ts"
import { ModelList } from "../../src/wire/models/ModelListSchema.ts"

const schemas: Readonly<Record<string, Schema.Schema.AnyNoContext>> = {
  AnthropicErrorResponse,
  AnthropicModelList,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  CountTokensRequest,
  ErrorResponse,
  Message,
  MessagesEvent,
  MessagesRequest,
  ModelList
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Every property of a JSON schema, with the path that leads to it. */
function* properties(schema: unknown, path: string): Generator<readonly [path: string, property: unknown]> {
  if (Array.isArray(schema)) {
    for (const item of schema) yield* properties(item, path)
  } else if (isRecord(schema)) {
    for (const [key, value] of Object.entries(schema)) {
      if (key === "properties" && isRecord(value)) {
        for (const [name, property] of Object.entries(value)) yield [`${path}.${name}`, property]
      }
      yield* properties(value, key === "properties" || key === "anyOf" ? path : `${path}.${key}`)
    }
  }
}

const isDescribed = (property: unknown, document: unknown): boolean => {
  if (!isRecord(property)) return false
  if (typeof property["description"] === "string") return true
  if (Array.isArray(property["allOf"])) return property["allOf"].some((item) => isDescribed(item, document))
  const reference = property["$ref"]
  if (typeof reference !== "string" || !isRecord(document) || !isRecord(document["$defs"])) return false
  return isDescribed(document["$defs"][reference.replace("#/$defs/", "")], document)
}

describe.each(Object.entries(schemas))("%s", (_name, schema) => {
  it("becomes a JSON schema in which every property says what it is", () => {
    const document: unknown = JSON.parse(JSON.stringify(JSONSchema.make(schema)))
    const found = [...properties(document, "")]
    expect(found.length).toBeGreaterThan(2)
    expect(found.filter(([, property]) => !isDescribed(property, document)).map(([path]) => path)).toEqual([])
  })
})

describe("the request's schema", () => {
  it("states bounds in the words of JSON schema", () => {
    const document = JSON.stringify(JSONSchema.make(ChatCompletionRequest))
    for (const bound of [
      '"maxItems":20000',
      '"maxItems":1024',
      '"maxItems":64',
      '"maxLength":120',
      '"maximum":20',
      '"minimum":-2'
    ]) {
      expect(document).toContain(bound)
    }
  })
})
