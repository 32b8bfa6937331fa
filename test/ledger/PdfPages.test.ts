import { deflateSync } from "node:zlib"
import { describe, expect, it, vi } from "vitest"
import * as PdfPages from "../../src/ledger/PdfPages.ts"

const pagesOf = (...objects: ReadonlyArray<string | Buffer>): number =>
  PdfPages.make().of(Buffer.concat([Buffer.from("%PDF-1.7\n"), ...objects.map((object) => Buffer.from(object))]))

const pages = (count: number, text = "<< /Type /Page /Parent 2 0 R >>\n"): string => text.repeat(count)

/** Objects as an object stream has them: one after the other, compressed. */
const compressed = (objects: string, content = deflateSync(objects)): Buffer =>
  Buffer.concat([
    Buffer.from(
      `9 0 obj\n<< /Type /ObjStm /N 3 /First 20 /Filter /FlateDecode /Length ${content.length} >>\nstream\r\n`
    ),
    content,
    Buffer.from("\nendstream\nendobj\n")
  ])

describe("The pages of a PDF", () => {
  it.each([
    ["spaces", pages(3)],
    ["no spaces", pages(3, "<</Parent 2 0 R/Type/Page>>")],
    ["lines", pages(3, "<<\n/Type\r\n/Page\n>>")],
    ["a comment", pages(3, "<< /Type /Page% the page\n>>")],
    ["compressed objects", compressed(pages(3))],
    [
      "objects in several streams, and some in none",
      Buffer.concat([compressed(pages(1)), Buffer.from(pages(1)), compressed(pages(1))])
    ]
  ])("are its page objects: with %s", (_, objects) => {
    expect(pagesOf(objects)).toBe(3)
  })

  it.each([
    ["the tree before its kids", "<< /Type /Pages /Kids [1 0 R 1 0 R] /Count 40 >>"],
    [
      "the tree after them",
      `<< /MediaBox [0 0 9 9] /Count 40 /Kids [${"1 0 R ".repeat(1_000)}] /Resources << /A << >> >> /Type/Pages>>`
    ],
    ["compressed objects", compressed("<< /Count 40 /Type /Pages >>")],
    ["several nodes", "<< /Type /Pages /Count 20 >> << /Type /Pages /Count 40 >> << /Type /Pages /Count 20 >>"]
  ])("are as many as the page tree counts, where one object stands for many: %s", (_, tree) => {
    expect(pagesOf(tree, pages(1))).toBe(40)
  })

  it("are not what other objects name or count", () => {
    const others = [
      "<< /Type /Catalog /PageLabels 7 0 R /PageMode /UseNone /OpenAction [1 0 R /Fit] >>",
      "<< /Type /Outlines /Count 80 >> << /Type /Pages /Kids [] /Count 0 >> << /Count 70 /Title (x) >>",
      "<< /Type /PageLabel /S /Page /D [/Page 1] /Kind/Pages /Count 60 >>"
    ]
    expect(pagesOf(...others, pages(2))).toBe(2)
    expect(pagesOf(compressed(others.join("\n")), pages(2))).toBe(2)
  })

  it("are one where none are found, and a thousand at most", () => {
    expect(pagesOf("")).toBe(1)
    expect(pagesOf("no PDF at all /Type")).toBe(1)
    expect(PdfPages.make().of(Buffer.from("/Page"))).toBe(1)
    expect(pagesOf(pages(2_000))).toBe(1_000)
    expect(pagesOf("<< /Type /Pages /Count 999999999 >>")).toBe(1_000)
  })

  it.each([
    ["encrypted", Buffer.from("neither deflated nor text")],
    ["too long", deflateSync(pages(70_000))],
    ["cut", deflateSync(pages(3)).subarray(0, 20)]
  ])("are a hundred where objects cannot be read (%s), or as many as are found", (_, content) => {
    expect(pagesOf(compressed("", content))).toBe(100)
    expect(pagesOf(pages(3), compressed("", content))).toBe(100)
    expect(pagesOf(pages(300), compressed("", content))).toBe(300)
    expect(pagesOf(compressed("", content), "/Type /ObjStm")).toBe(100)
  })

  it("are found by reading a file a few times, however many streams it has that do not end", () => {
    const stream = Buffer.concat([Buffer.from("<< /Type /ObjStm >>\nstream\n"), deflateSync("x"), Buffer.from("\n")])
    const filler = Buffer.alloc(500_000, "a ")
    const files = [
      Buffer.concat([...Array(400).fill(stream), filler]),
      Buffer.concat([Buffer.from("<< /Type /ObjStm >> ".repeat(400)), filler, stream])
    ]
    const indexOf = Buffer.prototype.indexOf
    let read = 0
    const spy = vi.spyOn(Buffer.prototype, "indexOf").mockImplementation(function (this: Buffer, text, from) {
      const found = indexOf.call(this, text, Number(from ?? 0))
      read += (found === -1 ? this.length : found) - Number(from ?? 0)
      return found
    })
    try {
      for (const file of files) {
        read = 0
        PdfPages.make().of(file)
        expect(read).toBeGreaterThan(file.length)
        expect(read).toBeLessThan(4 * file.length)
      }
    } finally {
      spy.mockRestore()
    }
  })

  it("are a hundred in what comes after as much as is read of one request", () => {
    const counter = PdfPages.make()
    const large = compressed(`${pages(1)}${" ".repeat(1_900_000)}`)
    const counts = Array.from({ length: 6 }, () => counter.of(large))
    expect(counts).toEqual([1, 1, 1, 1, 100, 100])
    expect(PdfPages.make().of(Buffer.from("/Page ".repeat(200_000)))).toBe(100)
  })
})
