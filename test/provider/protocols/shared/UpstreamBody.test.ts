import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type StringLiteral, StringLiterals } from "../../../../src/domain/StringLiterals.ts"
import { type UpstreamBody, writeBody } from "../../../../src/provider/protocols/shared/UpstreamBody.ts"
import { awkwardJson, awkwardText, withOddEscapes } from "../../../support/LongTexts.ts"
import { request } from "../calls.ts"

const literalOf = (value: string): StringLiteral => ({
  value,
  utf8: Buffer.from(withOddEscapes(JSON.stringify(value)))
})
const written = (body: object, values: ReadonlyArray<string>): UpstreamBody =>
  writeBody(body, request({ stringLiterals: new StringLiterals(values.map(literalOf)) }))
const textOf = (body: UpstreamBody): string => (typeof body === "string" ? body : Buffer.from(body).toString())

/** The JSON of the value, each of its strings without halves of surrogate pairs. */
const wellFormed = (value: unknown): string => JSON.stringify(JSON.parse(JSON.stringify(value), wellFormedMember))
const wellFormedMember = (_: string, value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => [name.toWellFormed(), inner])
  return Object.fromEntries(members)
}

const texts = Array.from({ length: 40 }, (_, index) => `document ${index + 10}: ${"x".repeat(1_000)}`)

describe("a provider's body", () => {
  it("is the same JSON with literals as without", () => {
    fc.assert(
      fc.property(awkwardJson, fc.array(awkwardText, { maxLength: 12 }), (value, values) => {
        const body = { value, messages: values.map((content) => ({ content })), undefined }
        const literals = values.filter((text) => text.length > 100 && text.isWellFormed())
        const result = textOf(written(body, literals))
        expect(JSON.stringify(JSON.parse(result))).toBe(wellFormed(body))
      }),
      { numRuns: 300 }
    )
  })

  it("is the client's own literals, in UTF-8", () => {
    const result = written({ messages: texts.map((content) => ({ content })) }, texts)
    expect(result).toBeInstanceOf(Uint8Array)
    expect(textOf(result)).toBe(withOddEscapes(JSON.stringify({ messages: texts.map((content) => ({ content })) })))
  })

  it("has literals in whatever order, but for those of one length that come too early or too late", () => {
    const copied = (body: ReadonlyArray<string>, values: ReadonlyArray<string>) =>
      textOf(written(body, values))
        .split('"document')
        .filter((text) => text.includes("\\u0078")).length
    const different = texts.map((text, index) => text + "x".repeat(index + 1))
    expect(copied([...different].reverse(), different)).toBe(40)
    expect(copied(texts.slice(7), texts)).toBe(33)
    expect(copied(texts.slice(8), texts)).toBe(0)
    expect(copied([texts[7] ?? "", ...texts.slice(0, 7), ...texts.slice(8)], texts)).toBe(33)
  })

  it("keeps every digit of an integer", () => {
    expect(textOf(written({ seed: 9007199254740993n, text: "x".repeat(2_000) }, ["x".repeat(2_000)]))).toBe(
      `{"seed":9007199254740993,"text":"${"\\u0078".repeat(2_000)}"}`
    )
  })

  it("has no half of a surrogate pair, for which a provider rejects all of it, and what looks like the escape of one as it is", () => {
    const [high = "", low = ""] = "😀".split("")
    const bodies = [
      { text: `${high}${high}${low}${low}` },
      { text: "\\ud83d \\\\ud83d \n\\" },
      { [high]: [`\\${low}`] },
      { text: "😀" }
    ]
    expect(bodies.map((body) => writeBody(body, request()))).toEqual([
      '{"text":"\ufffd😀\ufffd"}',
      String.raw`{"text":"\\ud83d \\\\ud83d \n\\"}`,
      '{"\ufffd":["\\\\\ufffd"]}',
      '{"text":"😀"}'
    ])
    expect(textOf(written({ text: high, long: texts[0] }, texts))).toMatch(/^\{"text":"\ufffd","long":"/)
  })

  it("is text where nothing is copied", () => {
    expect(written({ text: "changed" }, texts)).toBe('{"text":"changed"}')
    expect(writeBody({ text: "x" }, request())).toBe('{"text":"x"}')
  })

  it("leaves the request as it was, and is written again without literals", () => {
    const body = { messages: texts.map((content) => ({ content })) }
    const before = structuredClone(body)
    const asked = request({ stringLiterals: new StringLiterals(texts.map(literalOf)) })
    expect(writeBody(body, asked)).toBeInstanceOf(Uint8Array)
    expect(body).toEqual(before)
    expect(writeBody(body, asked)).toBe(JSON.stringify(body))
  })
})
