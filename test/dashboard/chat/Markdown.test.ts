import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { tokensOf } from "../../../src/dashboard/pages/chat/highlight.ts"
import { type Block, blocksOf, type Inline, inlineOf, sourcesOf } from "../../../src/dashboard/pages/chat/markdown.ts"

const inlines = (of: Inline): ReadonlyArray<Inline> => ("of" in of ? [of, ...of.of.flatMap(inlines)] : [of])
const nodes = (of: Block): ReadonlyArray<Inline> => {
  switch (of.kind) {
    case "heading":
    case "paragraph":
      return of.of.flatMap(inlines)
    case "quote":
      return of.of.flatMap(nodes)
    case "list":
      return of.items.flat().flatMap(nodes)
    case "table":
      return [of.head, ...of.rows].flat(2).flatMap(inlines)
    default:
      return []
  }
}

const pieces = fc.constantFrom(
  "**",
  "*",
  "_",
  "~~",
  "`",
  "```\n",
  "[a](",
  "javascript:alert(1)",
  "https://example.com/",
  "data:text/html,x",
  ")",
  "]",
  "<script>",
  "\n",
  "\n\n",
  "# ",
  "- ",
  "1. ",
  "> ",
  "| a | b |\n|--|--|\n",
  "word ",
  "  ",
  "![x](",
  "\\",
  "\u{1f600}"
)
const documents = fc.array(pieces, { maxLength: 40 }).map((all) => all.join(""))

describe("Markdown of models", () => {
  it("has blocks, lists and tables", () => {
    const text =
      "# Title\n\nA *b* **c** `d`\n\n- one\n- two\n  1. deep\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst a = 1\n```\n> said"
    expect(blocksOf(text)).toMatchObject([
      { kind: "heading", level: 1, of: [{ kind: "text", text: "Title" }] },
      {
        kind: "paragraph",
        of: [
          { text: "A " },
          { kind: "em" },
          { text: " " },
          { kind: "strong" },
          { text: " " },
          { kind: "code", text: "d" }
        ]
      },
      {
        kind: "list",
        isOrdered: false,
        items: [[{ kind: "paragraph" }], [{ kind: "paragraph" }, { kind: "list", isOrdered: true }]]
      },
      { kind: "table", head: [[{ text: "x" }], [{ text: "y" }]], rows: [[[{ text: "1" }], [{ text: "2" }]]] },
      { kind: "code", language: "ts", text: "const a = 1" },
      { kind: "quote", of: [{ kind: "paragraph" }] }
    ])
  })

  it("leads only to web pages and addresses of mail, whose host it shows", () => {
    expect(inlineOf("[here](https://evil.example/x) or https://a.example/b.")).toMatchObject([
      { kind: "link", href: "https://evil.example/x", host: "evil.example" },
      { kind: "text" },
      { kind: "link", host: "a.example", of: [{ text: "https://a.example/b" }] },
      { kind: "text", text: "." }
    ])
    for (const url of [
      "javascript:alert(1)",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
      "/relative",
      "blob:x"
    ]) {
      expect(inlineOf(`[here](${url})`)).toEqual([{ kind: "blocked", text: "here" }])
    }
    expect(inlineOf("![pixel](https://evil.example/p.png)")).toMatchObject([
      { kind: "link", of: [{ text: "image: pixel" }] }
    ])
    expect(inlineOf("<img src=x onerror=alert(1)>")).toEqual([{ kind: "text", text: "<img src=x onerror=alert(1)>" }])
  })

  it("has no link within a link, and ends an address where its own parentheses do", () => {
    const target = { kind: "link", href: "https://a.example/", host: "a.example" }
    for (const label of ["https://b.example", "[b", "**see** https://b.example/x"]) {
      const [link, ...rest] = inlineOf(`[${label}](https://a.example/)`)
      expect([link, rest]).toMatchObject([target, []])
      expect(link === undefined ? [] : inlines(link).filter(({ kind }) => kind === "link")).toHaveLength(1)
    }
    const article = "https://a.example/wiki/Router_(computing)"
    expect(inlineOf(`(see ${article}) or ${article}.`)).toMatchObject([
      { text: "(see " },
      { kind: "link", href: article },
      { text: ") or " },
      { kind: "link", href: article },
      { text: "." }
    ])
  })

  it("makes a tree of any text, and no link of another kind", () => {
    fc.assert(
      fc.property(documents, (text) => {
        for (const node of blocksOf(text).flatMap(nodes)) {
          if (node.kind !== "link") continue
          expect(node.href).toMatch(/^(?:https?|mailto):/)
          expect(node.of.flatMap(inlines).map(({ kind }) => kind)).not.toContain("link")
        }
      }),
      { numRuns: 500 }
    )
  })

  it("loses no word of plain text, and none of code", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("alpha", "beta", "x_y", "3 * 4 * 5", "a ** b"), { minLength: 1 }), (all) => {
        const text = all.join(" ")
        const shown = inlineOf(text)
          .flatMap(inlines)
          .map((node) => ("text" in node ? node.text : ""))
          .join("")
        for (const word of ["alpha", "beta"]) expect(shown.split(word).length).toBe(text.split(word).length)
        expect(
          tokensOf(text, "js")
            .map((token) => token.text)
            .join("")
        ).toBe(text)
      })
    )
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("ts", "python", "sql", ""), (text, language) => {
        expect(
          tokensOf(text, language)
            .map((token) => token.text)
            .join("")
        ).toBe(text)
      })
    )
  })

  it("keeps the blocks that are complete while text is appended", () => {
    const text = "one\n\n```js\nlet a\n\nlet b\n```\n\n- x\n- y\n\nend"
    for (let length = 1; length <= text.length; length += 1) {
      const before = sourcesOf(text.slice(0, length)).slice(0, -1)
      expect(sourcesOf(text).slice(0, before.length)).toEqual(before)
    }
  })
})
