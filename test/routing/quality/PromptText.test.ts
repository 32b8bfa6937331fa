import { describe, expect, it } from "vitest"
import { maxTextLength } from "../../../src/routing/quality/Features.ts"
import { promptText } from "../../../src/routing/quality/PromptText.ts"

const textOf = (content: string) => promptText({ messages: [{ role: "user", content }] })

describe("The text that tells what a request asks for", () => {
  it("is well-formed where a character is cut, and where the request has half of one", () => {
    const cut = textOf(`a${"😀".repeat(maxTextLength)}`)
    expect(cut.length).toBeLessThanOrEqual(maxTextLength + 1)
    expect(cut.isWellFormed()).toBe(true)
    expect(cut).toContain("\ufffd")
    expect(textOf("half \ud83d of one")).toBe("half \ufffd of one")
  })

  it("begins with the instructions where the last turn is short", () => {
    const instructions = { role: "system", content: "Translate to Swedish." } as const
    const turn = "word ".repeat(60)
    expect(promptText({ messages: [instructions, { role: "user", content: "Good night" }] })).toBe(
      "Translate to Swedish.\nGood night"
    )
    expect(promptText({ messages: [instructions, { role: "user", content: turn }] })).toBe(turn)
  })
})
