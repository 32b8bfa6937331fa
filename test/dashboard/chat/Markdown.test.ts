import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { tokensOf } from "../../../src/dashboard/pages/chat/highlight.ts"
import { type Inline, inlineOf } from "../../../src/dashboard/pages/chat/inline.ts"
import { type Block, blocksOf, sourcesOf } from "../../../src/dashboard/pages/chat/markdown.ts"

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
/** In the way of HTML, so that a case is one line. */
const shown = (of: Inline): string => {
  switch (of.kind) {
    case "text":
      return of.text
    case "break":
      return "<br>"
    case "code":
    case "blocked":
      return `<${of.kind}>${of.text}</${of.kind}>`
    case "link":
      return `<${of.href}>${of.of.map(shown).join("")}</>`
    default:
      return `<${of.kind}>${of.of.map(shown).join("")}</${of.kind}>`
  }
}
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
    for (const label of ["https://b.example", "[b]", "![b](https://b.example)", "**see** https://b.example/x"]) {
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

  it("pairs brackets, emphasis and backticks as CommonMark does, and loses none that has no pair", () => {
    for (const [text, expected] of [
      ["Set arr[0] first, see [the guide](https://a.b/x).", "Set arr[0] first, see <https://a.b/x>the guide</>."],
      ["[ ] write [docs](https://a.b/)", "[ ] write <https://a.b/>docs</>"],
      ["[1] Foo: [site](https://a.b/), [2]", "[1] Foo: <https://a.b/>site</>, [2]"],
      ["[a] (https://a.b/)", "[a] (<https://a.b/>https://a.b/</>)"],
      ["[a [b] c](https://a.b/)", "<https://a.b/>a [b] c</>"],
      ["[a [b](https://b.c/) d](https://a.b/)", "[a <https://b.c/>b</> d](<https://a.b/>https://a.b/</>)"],
      ["[[b](https://a.b/)", "[<https://a.b/>b</>"],
      ["[a\\] b](https://a.b/)", "<https://a.b/>a] b</>"],
      ["[`a]`](https://a.b/)", "<https://a.b/><code>a]</code></>"],
      ["`[a`](https://a.b/)", "<code>[a</code>](<https://a.b/>https://a.b/</>)"],
      ["[![x](https://a.b/i)](https://a.b/)", "<https://a.b/>image: x</>"],
      ["[a](https://a.b/x_(y\\))", "[a](<https://a.b/x_(y/)>https://a.b/x_(y\\)</>)"],
      ["[a](https://a.b/x_\\(y\\))", "<https://a.b/x_(y)>a</>"],
      ["***both***", "<em><strong>both</strong></em>"],
      ["*a **b** c*", "<em>a <strong>b</strong> c</em>"],
      ["a **b *c* d** e", "a <strong>b <em>c</em> d</strong> e"],
      ["**a *b***", "<strong>a <em>b</em></strong>"],
      ["*a [b*](https://a.b/)", "*a <https://a.b/>b*</>"],
      ["**see `a**b` now**", "<strong>see <code>a**b</code> now</strong>"],
      ["*a __b* c__", "<em>a __b</em> c__"],
      ["a_b_c and __init__", "a_b_c and <strong>init</strong>"],
      ["$5 * 3, a price*, and a cost*.", "$5 * 3, a price*, and a cost*."],
      ["*foo (*bar*)*", "<em>foo (<em>bar</em>)</em>"],
      ["**注意：**这 **Note:**text", "<strong>注意：</strong>这 <strong>Note:</strong>text"],
      ["~5~ ~~x~~ ~~~y~~~", "~5~ <del>x</del> ~~~y~~~"],
      ["`` a`b `` and ` `` `", "<code>a`b</code> and <code>``</code>"],
      ["``a`b", "``a`b"]
    ] as const) {
      expect.soft(inlineOf(text).map(shown).join(""), text).toBe(expected)
    }
  })

  it("leaves a pipe after a backslash to its cell, also in code", () => {
    const [table] = blocksOf("| a | b \\| c |\n|---|---|\n| `x \\| y` | \\* |\n\\| | 2 | ")
    const cells = (row: ReadonlyArray<ReadonlyArray<Inline>>) => row.map((cell) => cell.map(shown).join(""))
    if (table?.kind !== "table") throw new Error("it is a table")
    expect([table.head, ...table.rows].map(cells)).toEqual([
      ["a", "b | c"],
      ["<code>x | y</code>", "*"],
      ["|", "2"]
    ])
  })

  it("reads text of any size that pairs nothing, or everything, without searching it again and again", () => {
    for (const piece of [
      "[",
      "![",
      "[a](",
      "]",
      "[a]",
      "`",
      "` ``",
      "**a ",
      "*a_",
      "a**",
      "~~a",
      "(",
      "[a](()",
      "https://%"
    ]) {
      const text = piece.repeat(100_000 / piece.length)
      expect(inlineOf(text).length, piece).toBeGreaterThan(0)
      expect(inlineOf(`${text}${[...piece].reverse().join("").repeat(1_000)}`).length, piece).toBeGreaterThan(0)
    }
    const backticks = Array.from({ length: 700 }, (_, count) => "`".repeat(count + 1)).join(" ")
    expect(inlineOf(backticks).map(shown).join("")).toBe(backticks)
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
