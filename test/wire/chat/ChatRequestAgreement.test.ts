import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { decode } from "../../../src/wire/chat/ChatRequest.ts"
import { chatBody } from "../../../src/wire/chat/ChatRequestGuard.ts"
import { ChatCompletionRequest } from "../../../src/wire/chat/ChatRequestSchema.ts"
import { explainer } from "../../../src/wire/validation/Explanation.ts"
import { rejected, type Trail } from "../../../src/wire/validation/Guard.ts"
import { body, everyChange, full, mutated } from "./ChatArbitraries.ts"

const accepts = Schema.is(ChatCompletionRequest)
const explain = explainer(ChatCompletionRequest)
const whole = Schema.decodeUnknownEither(ChatCompletionRequest)

describe("guard and schema", () => {
  it("accept exactly the same values in every field", () => {
    expect(Object.keys(full).sort()).toEqual([...fields()].sort())
    expect(chatBody(full, [])).toBe(full)
    const seen = { accepted: 0, refused: 0 }
    for (const json of everyChange(full)) {
      const byGuard = chatBody(json, []) !== rejected
      seen[byGuard ? "accepted" : "refused"]++
      if (byGuard !== accepts(json)) expect.fail(`guard: ${byGuard}, schema: ${!byGuard}: ${JSON.stringify(json)}`)
    }
    expect(seen.accepted).toBeGreaterThan(1_000)
    expect(seen.refused).toBeGreaterThan(1_000)
  })

  it("accept exactly the same bodies", () => {
    const seen = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(fc.oneof(body, mutated, fc.jsonValue()), (json) => {
        const byGuard = chatBody(json, []) !== rejected
        seen[byGuard ? "accepted" : "refused"]++
        expect(byGuard).toBe(Either.isRight(whole(json)))
        expect(byGuard).toBe(accepts(json))
      }),
      { numRuns: 400 }
    )
    expect(seen.accepted).toBeGreaterThan(40)
    expect(seen.refused).toBeGreaterThan(40)
  })

  it("agree on the excerpt around a fault as they do on the whole body", () => {
    let explained = 0
    fc.assert(
      fc.property(mutated, (json) => {
        const trail: Trail = []
        if (chatBody(json, trail) !== rejected) return
        explained++
        const fault = explain(json, trail.reverse())
        expect(fault).toBeDefined()
      }),
      { numRuns: 400 }
    )
    expect(explained).toBeGreaterThan(40)
  })

  it("never say more than a few words, and name the place they speak of", () => {
    fc.assert(
      fc.property(mutated, (json) => {
        const result = decode(json)
        if (Either.isRight(result)) return
        const { code, message, param } = result.left
        expect(["missing_required_parameter", "invalid_type", "invalid_value", "unsupported_value"]).toContain(code)
        expect(message.length).toBeLessThan(500)
        if (param !== null) expect(message).toContain(`'${param}'`)
      }),
      { numRuns: 250 }
    )
  })
})

describe("what is accepted", () => {
  it("keeps messages and tools as the very same objects when they hold nothing unknown", () => {
    const messages = [
      { role: "user", content: [{ type: "text", text: "a" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{" } }]
      },
      { role: "tool", tool_call_id: "c", content: "r" }
    ]
    const tools = [{ type: "function", function: { name: "f", parameters: { anything: [1] } } }]
    const request = Either.getOrThrow(decode({ model: "m", messages, tools, unknown: 1, seed: null }))
    expect(request.messages).toBe(messages)
    expect(request.tools).toBe(tools)
  })

  it("never carries a field that the schema does not name", () => {
    const strict = Schema.decodeUnknownEither(ChatCompletionRequest, { onExcessProperty: "error" })
    fc.assert(
      fc.property(fc.oneof(body, mutated), (json) => {
        const result = decode(json)
        if (Either.isLeft(result)) return
        const { messages, tools } = result.right
        const again: unknown = JSON.parse(JSON.stringify({ model: "m", messages, tools }))
        expect(Either.isRight(strict(again))).toBe(true)
        expect(Either.getOrThrow(decode(again)).messages).toEqual(messages)
      }),
      { numRuns: 250 }
    )
  })

  it("loses nothing of a message that the schema names", () => {
    fc.assert(
      fc.property(body, (json) => {
        const result = decode(json)
        if (Either.isLeft(result)) return
        const known = Either.getOrThrow(whole(json))
        expect(withoutNothing(result.right.messages)).toEqual(withoutNothing(known.messages))
        expect(withoutNothing(result.right.tools)).toEqual(withoutNothing(known.tools ?? []))
      }),
      { numRuns: 250 }
    )
  })
})

const fields = (): ReadonlyArray<string> => {
  const definition = JSONSchema.make(ChatCompletionRequest).$defs?.["ChatCompletionRequest"]
  return definition !== undefined && "properties" in definition ? Object.keys(definition.properties) : []
}

/** `null` and an empty list of calls say the same as nothing. */
const withoutNothing = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key: string, item: unknown) =>
      item === null || (key === "tool_calls" && Array.isArray(item) && item.length === 0) ? undefined : item
    )
  )
