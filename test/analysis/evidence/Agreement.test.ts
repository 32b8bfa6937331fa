import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { agree, canonicalJson } from "../../../src/analysis/evidence/Agreement.ts"
import type { AssistantMessage } from "../../../src/domain/Chat.ts"

const says = (content: string): AssistantMessage => ({ role: "assistant", content })
const calls = (...made: ReadonlyArray<readonly [name: string, args: string]>): AssistantMessage => ({
  role: "assistant",
  content: null,
  tool_calls: made.map(([name, args], at) => ({
    id: `call_${at}`,
    type: "function",
    function: { name, arguments: args }
  }))
})

describe("answers agree", () => {
  it.each([
    ["the same number in another form", says("1,250.0"), says("**1250**")],
    ["the same choice", says("(B)"), says("b.")],
    ["equal JSON with other spaces and order", says('{"a": 1, "b": [true]}'), says('```json\n{"b":[true],"a":1}\n```')],
    [
      "equal calls in another order",
      calls(["f", '{"x":1,"y":2}'], ["g", "{}"]),
      calls(["g", "{ }"], ["f", '{"y":2,"x":1}'])
    ]
  ])("%s", (_, a, b) => expect(agree(a, b)).toBe(true))

  it.each([
    ["numbers that differ", says("1250"), says("1251")],
    ["JSON with another value", says('{"a":1}'), says('{"a":2}')],
    ["JSON and text", says('{"a":1}'), says("a is 1")],
    ["another tool", calls(["f", "{}"]), calls(["g", "{}"])],
    ["another argument", calls(["f", '{"x":1}']), calls(["f", '{"x":2}'])],
    ["a call and none", calls(["f", "{}"]), says("done")],
    ["one call more", calls(["f", "{}"]), calls(["f", "{}"], ["f", "{}"])],
    ["a negative number and a positive one", says("-5"), says("5")],
    ["nothing and nothing, which says nothing", says(""), says("")]
  ])("not: %s", (_, a, b) => expect(agree(a, b)).toBe(false))

  it("whatever the order of keys, at any depth", () => {
    const shuffled = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(shuffled)
        : value !== null && typeof value === "object"
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, inner]) => [key, shuffled(inner)])
            )
          : value
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value))
        expect(agree(says(JSON.stringify(value)), says(JSON.stringify(shuffled(value), null, 2)))).toBe(true)
      })
    )
  })
})
