import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { promptClasses } from "../../../src/domain/PromptClass.ts"
import { classify, likeliest, perMille } from "../../../src/routing/quality/Classify.ts"
import { request } from "../models.ts"

const classOf = (text: string, more: Parameters<typeof request>[0] = {}, promptTokens = 100) =>
  likeliest(classify(request({ messages: [{ role: "user", content: text }], ...more }), promptTokens))

const tool = { type: "function", function: { name: "search" } } as const

describe("The class of a prompt", () => {
  it.each([
    ["code", "Write a Python function that removes duplicates from a list and keeps the order."],
    ["code", "My Rust program does not compile: error[E0502]: cannot borrow `x` as mutable"],
    ["math", "A baker sells 24 rolls for 36 dollars. How much do 7 rolls cost?"],
    ["math", "Find the derivative of x^4 - 3x^2 + 7."],
    ["reasoning", "If all roses are flowers and some flowers fade quickly, do some roses fade quickly? Explain."],
    ["knowledge", "What is the capital of Mongolia?"],
    ["knowledge", "Explain how volcanoes form."],
    ["extraction", "Extract the names and dates from this text as JSON: Anna met Ben on 3 May 2021 in Rome."],
    ["chat", "Hello, how are you doing today?"],
    ["chat", "Write a short poem about the moon."],
    ["chat", "Say hello."],
    ["chat", "Say good night to everyone."],
    ["chat", "Hey"],
    ["chat", "ok"],
    ["chat", "Go on."],
    ["chat", "👍"],
    ["chat", "xqzt vwkk"],
    ["chat", ""],
    ["translation", "Translate to Swedish: The library opens at nine."]
  ])("is %s for: %s", (expected, text) => {
    expect(classOf(text)).toBe(expected)
  })

  it("is the same when the same text is asked about again, whatever was asked in between", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 300 }), { maxLength: 8 }), (texts) => {
        const asked = texts.map((content) => request({ messages: [{ role: "user", content }] }))
        const first = asked.map((one) => classify(one, 100))
        expect(asked.map((one) => classify(one, 100))).toEqual(first)
        expect(asked.toReversed().map((one) => classify(one, 100))).toEqual(first.toReversed())
      })
    )
  })

  it("follows the rest of the request: an image, the result of a tool, a very long prompt", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64," } } as const
    expect(classOf("", { messages: [{ role: "user", content: [{ type: "text", text: "Look" }, image] }] })).toBe(
      "vision"
    )
    expect(
      classOf("", {
        tools: [tool],
        messages: [
          { role: "user", content: "What is the weather?" },
          { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "1", content: "Sunny." }
        ]
      })
    ).toBe("tool_use")
    expect(classOf("Summarize the report.", {}, 100_000)).toBe("long_context")
  })

  it("of a short turn follows the instructions of the system message", () => {
    const messages = [
      { role: "system", content: "You are a professional translator. Translate the user's text to French." },
      { role: "user", content: "The bridge is closed." }
    ] as const
    expect(classOf("", { messages })).toBe("translation")
  })

  it("is a distribution in whole per mille for any request", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 2_000 }),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 0, max: 2_000_000 }),
        (text, withTools, withSchema, promptTokens) => {
          const classes = classify(
            request({
              messages: [{ role: "user", content: text }],
              tools: withTools ? [tool] : [],
              responseFormat: withSchema ? { type: "json_object" } : undefined
            }),
            promptTokens
          )
          expect(classes).toHaveLength(promptClasses.length)
          expect(classes.every((part) => Number.isInteger(part) && part >= 0)).toBe(true)
          expect(classes.reduce((sum, part) => sum + part, 0)).toBe(perMille)
        }
      )
    )
  })
})
