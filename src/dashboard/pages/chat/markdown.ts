import { type Inline, inlineOf } from "./inline.ts"

/** The blocks of the Markdown that models write, as a tree. */
export type Block =
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "heading"; readonly level: number; readonly of: ReadonlyArray<Inline> }
  | { readonly kind: "paragraph"; readonly of: ReadonlyArray<Inline> }
  | { readonly kind: "quote"; readonly of: ReadonlyArray<Block> }
  | {
      readonly kind: "list"
      readonly isOrdered: boolean
      readonly start: number
      readonly items: ReadonlyArray<ReadonlyArray<Block>>
    }
  | { readonly kind: "table"; readonly head: Row; readonly rows: ReadonlyArray<Row> }
  | { readonly kind: "rule" }

type Row = ReadonlyArray<ReadonlyArray<Inline>>

/** Lists and quotes in each other; what is deeper is text. */
const maxDepth = 8

/** The sources of the top-level blocks: while text is appended, all but the last stay the same. */
export const sourcesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.replaceAll("\r\n", "\n").split("\n")
  const sources: Array<string> = []
  for (let at = 0; at < lines.length; ) {
    const end = endOfBlock(lines, at)
    const source = lines.slice(at, end).join("\n")
    if (source.trim() !== "") sources.push(source)
    at = end
  }
  return sources
}

export const blocksOf = (text: string, depth = 0): ReadonlyArray<Block> =>
  sourcesOf(text).map((source) => blockOf(source, depth))

const fenceOf = (line: string): string | undefined => {
  const text = line.trimStart()
  const mark = text.startsWith("```") ? "`" : text.startsWith("~~~") ? "~" : undefined
  if (mark === undefined || line.length - text.length > 3) return undefined
  let length = 0
  while (text[length] === mark) length += 1
  return mark === "`" && text.slice(length).includes("`") ? undefined : mark.repeat(length)
}

interface Marker {
  readonly indent: number
  /** Where the text of the item begins. */
  readonly width: number
  readonly isOrdered: boolean
  readonly start: number
}

const markerOf = (line: string): Marker | undefined => {
  const found = /^( {0,8})([-*+]|\d{1,9}[.)])(?: |$)/.exec(line)
  if (found === null) return undefined
  const [all = "", spaces = "", mark = ""] = found
  const isOrdered = mark.length > 1
  return { indent: spaces.length, width: all.length, isOrdered, start: isOrdered ? Number.parseInt(mark, 10) : 1 }
}

const isRule = (line: string): boolean => /^ {0,3}(?:(?:\* ?){3,20}|(?:- ?){3,20}|(?:_ ?){3,20})$/.test(line)
const headingOf = (line: string): number => /^(#{1,6}) /.exec(line)?.[1]?.length ?? 0
const isQuote = (line: string): boolean => line.startsWith(">")
const isDelimiter = (line: string | undefined): boolean =>
  line?.includes("-") === true && line.includes("|") && [...line].every((each) => "|:- \t".includes(each))
const isBlank = (line: string): boolean => line.trim() === ""

const beginsBlock = (line: string): boolean =>
  fenceOf(line) !== undefined || headingOf(line) > 0 || isQuote(line) || isRule(line) || markerOf(line) !== undefined

const endOfBlock = (lines: ReadonlyArray<string>, at: number): number => {
  const line = lines[at] ?? ""
  const fence = fenceOf(line)
  if (fence !== undefined) {
    for (let end = at + 1; end < lines.length; end += 1) {
      const closing = (lines[end] ?? "").trim()
      if (closing.startsWith(fence) && closing === (fence[0] ?? "").repeat(closing.length)) return end + 1
    }
    return lines.length
  }
  if (isBlank(line) || headingOf(line) > 0 || isRule(line)) return at + 1
  if (isQuote(line)) return firstAfter(lines, at, (each) => !isQuote(each))
  const marker = markerOf(line)
  if (marker !== undefined) {
    return firstAfter(lines, at, (each, next) => {
      const other = markerOf(each)
      if (other !== undefined) return other.indent <= marker.indent && other.isOrdered !== marker.isOrdered
      if (!isBlank(each)) return !each.startsWith(" ") && (beginsBlock(each) || isBlank(lines[next - 1] ?? ""))
      const following = lines.slice(next).find((later) => !isBlank(later))
      return following === undefined || (!following.startsWith("  ") && markerOf(following) === undefined)
    })
  }
  if (isDelimiter(lines[at + 1]) && line.includes("|")) {
    return firstAfter(lines, at + 1, (each) => !each.includes("|"))
  }
  return firstAfter(
    lines,
    at,
    (each, next) => isBlank(each) || beginsBlock(each) || (each.includes("|") && isDelimiter(lines[next + 1]))
  )
}

const firstAfter = (
  lines: ReadonlyArray<string>,
  at: number,
  ends: (line: string, index: number) => boolean
): number => {
  let end = at + 1
  while (end < lines.length && !ends(lines[end] ?? "", end)) end += 1
  return end
}

const blockOf = (source: string, depth: number): Block => {
  const lines = source.split("\n")
  const [first = ""] = lines
  const fence = fenceOf(first)
  if (fence !== undefined) {
    const isClosed = lines.length > 1 && (lines.at(-1) ?? "").trim().startsWith(fence)
    return {
      kind: "code",
      language: first.trim().slice(fence.length).trim().split(" ")[0] ?? "",
      text: lines.slice(1, isClosed ? -1 : undefined).join("\n")
    }
  }
  const level = headingOf(first)
  if (level > 0) return { kind: "heading", level, of: inlineOf(first.slice(level + 1).trim()) }
  if (isRule(first)) return { kind: "rule" }
  if (depth < maxDepth && isQuote(first)) {
    return { kind: "quote", of: blocksOf(lines.map((line) => line.replace(/^> ?/, "")).join("\n"), depth + 1) }
  }
  const marker = markerOf(first)
  if (depth < maxDepth && marker !== undefined) return listOf(lines, marker, depth)
  if (isDelimiter(lines[1])) {
    const [head = [], , ...rows] = lines.map(cellsOf)
    return { kind: "table", head, rows }
  }
  return { kind: "paragraph", of: inlineOf(source) }
}

const listOf = (lines: ReadonlyArray<string>, { indent, isOrdered, start }: Marker, depth: number): Block => {
  const items: Array<Array<string>> = []
  let width = 0
  for (const line of lines) {
    const marker = markerOf(line)
    if (marker !== undefined && marker.indent <= indent) {
      width = marker.width
      items.push([line.slice(width)])
    } else {
      const outer = line.length - line.trimStart().length
      items.at(-1)?.push(line.slice(Math.min(width, outer)))
    }
  }
  return { kind: "list", isOrdered, start, items: items.map((item) => blocksOf(item.join("\n"), depth + 1)) }
}

/** A pipe with a backslash is a part of its cell, and of code in it. */
const cellsOf = (line: string): Row => {
  const text = line.trim()
  const cells: Array<string> = []
  let cell = ""
  for (let at = text.startsWith("|") ? 1 : 0; at < text.length; at += 1) {
    const character = text[at] ?? ""
    if (character === "|") {
      cells.push(cell)
      cell = ""
    } else if (character === "\\") {
      cell += text[at + 1] === "|" ? "|" : text.slice(at, at + 2)
      at += 1
    } else cell += character
  }
  if (cell !== "") cells.push(cell)
  return cells.map((each) => inlineOf(each.trim()))
}
