import { type Delimiter, delimiterAt, emphasisOf } from "./emphasis.ts"

/** What stands in a block of Markdown, as a tree. It has no raw HTML: what looks like it is text. */
export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly of: ReadonlyArray<Inline> }
  | { readonly kind: "link"; readonly href: string; readonly host: string; readonly of: ReadonlyArray<Inline> }
  /** A link that leads nowhere safe. */
  | { readonly kind: "blocked"; readonly text: string }
  | { readonly kind: "break" }

/** Emphasis and links in each other; what is deeper is text. */
const maxDepth = 8

/** What is open at its end, as while it is streamed, is text. The work grows with the length of the text, whatever stands in it. */
export const inlineOf = (text: string): ReadonlyArray<Inline> => nodesIn(text, spansOf(text), 0, text.length, 0, false)

/** What begins at a place of the text and is more than its characters. */
type Span = Leaf | Around

interface Leaf {
  readonly end: number
  readonly node: Inline
}

interface Around {
  readonly end: number
  readonly node: Wrapping
  /** What it has within. */
  readonly from: number
  readonly to: number
}

type Wrapping =
  | { readonly kind: "strong" | "em" | "del" }
  | { readonly kind: "link"; readonly href: string; readonly host: string }

type Spans = ReadonlyMap<number, Span>

const nodesIn = (
  text: string,
  spans: Spans,
  from: number,
  to: number,
  depth: number,
  isLabel: boolean
): ReadonlyArray<Inline> => {
  const found: Array<Inline> = []
  let plain = ""
  const add = (node: Inline) => {
    if (node.kind === "text") {
      plain += node.text
      return
    }
    if (plain !== "") found.push({ kind: "text", text: plain })
    plain = ""
    found.push(node)
  }
  for (let at = from; at < to; ) {
    const span = spans.get(at)
    if (span === undefined || ("from" in span && depth === maxDepth)) {
      plain += text[at] ?? ""
      at += 1
      continue
    }
    if ("from" in span) {
      const of = nodesIn(text, spans, span.from, span.to, depth + 1, isLabel || span.node.kind === "link")
      add({ ...span.node, of })
    } else if (isLabel && span.node.kind === "link") {
      // the label of a link has none itself
      for (const node of span.node.of) add(node)
    } else add(span.node)
    at = span.end
  }
  if (plain !== "") found.push({ kind: "text", text: plain })
  return found
}

/** A bracket that has not been closed yet. */
interface Opened {
  readonly at: number
  /** Where the label begins. */
  readonly from: number
  /** How many delimiters stand before it. */
  readonly delimiters: number
}

const spansOf = (text: string): Spans => {
  const spans = new Map<number, Span>()
  const closings = closingsOfCode(text)
  const delimiters: Array<Delimiter> = []
  const opened: Array<Opened> = []
  const emphasize = (before: number) => {
    for (const { at, ...span } of emphasisOf(delimiters.splice(before))) spans.set(at, span)
  }
  let lastLink = -1
  for (let at = 0; at < text.length; ) {
    const leaf = leafAt(text, at, closings)
    const delimiter = leaf === undefined ? delimiterAt(text, at) : undefined
    if (leaf !== undefined) {
      spans.set(at, leaf)
      at = leaf.end
    } else if (delimiter !== undefined) {
      delimiters.push(delimiter)
      at += delimiter.length
    } else if (text[at] === "[" || text.startsWith("![", at)) {
      const from = text.indexOf("[", at) + 1
      opened.push({ at, from, delimiters: delimiters.length })
      at = from
    } else if (text[at] === "]") {
      const start = opened.pop()
      const isImage = start !== undefined && start.from - start.at > 1
      // what has a link in its label is none itself
      const target = start !== undefined && (isImage || start.at > lastLink) ? targetAt(text, at + 1) : undefined
      if (start !== undefined && target !== undefined) {
        emphasize(start.delimiters)
        spans.set(
          start.at,
          isImage ? imageOf(text.slice(start.from, at), target) : linkOf(text, start.from, at, target)
        )
        if (!isImage) lastLink = start.at
      }
      at = target?.end ?? at + 1
    } else at += 1
  }
  emphasize(0)
  return spans
}

const leafAt = (text: string, at: number, closings: Closings): Leaf | undefined => {
  const character = text[at] ?? ""
  const following = text[at + 1] ?? ""
  if (character === "\n") return { node: { kind: "break" }, end: at + 1 }
  if (character === "\\" && "\\`*_~[]()#+-.!|>".includes(following) && following !== "") {
    return { node: { kind: "text", text: following }, end: at + 2 }
  }
  if (character === "`") return codeAt(text, at, closings)
  if (character === "h") return bareLinkAt(text, at)
  return undefined
}

/** By the number of backticks where so many stand, the last first. */
type Closings = ReadonlyMap<number, Array<number>>

const closingsOfCode = (text: string): Closings => {
  const found = new Map<number, Array<number>>()
  for (const { 0: backticks, index } of [...text.matchAll(/`+/g)].reverse()) {
    const others = found.get(backticks.length)
    if (others === undefined) found.set(backticks.length, [index])
    else others.push(index)
  }
  return found
}

/** Those that stand before are not needed any more: the text is read from its begin. */
const codeAt = (text: string, at: number, closings: Closings): Leaf => {
  let from = at + 1
  while (text[from] === "`") from += 1
  const length = from - at
  const ends = closings.get(length) ?? []
  while ((ends.at(-1) ?? from) < from) ends.pop()
  const to = ends.at(-1)
  if (to === undefined) return { node: { kind: "text", text: "`".repeat(length) }, end: from }
  const code = text.slice(from, to)
  // which allows backticks at its ends
  const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== ""
  return { node: { kind: "code", text: isPadded ? code.slice(1, -1) : code }, end: to + length }
}

interface Target {
  readonly url: string
  readonly end: number
}

/** Parentheses in those of an address: it bounds how often the same text is searched for their ends. */
const maxParentheses = 32

/** The address after a label; it may have pairs of parentheses of its own. */
const targetAt = (text: string, at: number): Target | undefined => {
  if (text[at] !== "(") return undefined
  let open = 0
  for (let end = at; end < text.length && open <= maxParentheses; end += 1) {
    if (text[end] === "\\") end += 1
    else if (text[end] === "(") open += 1
    else if (text[end] === ")" && --open === 0) {
      const [url = ""] = text
        .slice(at + 1, end)
        .trim()
        .split(" ")
      return { url: url.replaceAll(/\\([()_*~[\]])/g, "$1"), end: end + 1 }
    }
  }
  return undefined
}

const linkOf = (text: string, from: number, to: number, { end, url }: Target): Span => {
  const safe = safeUrl(url)
  return safe === undefined
    ? { node: { kind: "blocked", text: text.slice(from, to) }, end }
    : { node: { kind: "link", ...safe }, from, to, end }
}

/** An image of another host would tell it who reads: it is a link. */
const imageOf = (alternative: string, { end, url }: Target): Leaf => {
  const safe = safeUrl(url)
  const label = `image: ${alternative}`
  const node: Inline =
    safe === undefined
      ? { kind: "blocked", text: label }
      : { kind: "link", ...safe, of: [{ kind: "text", text: label }] }
  return { node, end }
}

const bareLinkAt = (text: string, at: number): Leaf | undefined => {
  if (!text.startsWith("https://", at) && !text.startsWith("http://", at)) return undefined
  let end = at
  let open = 0
  for (; end < text.length && !/\s/.test(text[end] ?? "") && !'<>"`|]'.includes(text[end] ?? ""); end += 1) {
    if (text[end] === "(") open += 1
    // it ends what the address stands in
    else if (text[end] === ")" && open-- === 0) break
  }
  while (end > at && ".,;:!?*_~'".includes(text[end - 1] ?? "")) end -= 1
  const url = text.slice(at, end)
  const safe = safeUrl(url)
  const label: Inline = { kind: "text", text: url }
  return { node: safe === undefined ? label : { kind: "link", ...safe, of: [label] }, end }
}

/** Only links that leave the page, and only of these schemes. */
const safeUrl = (url: string): { readonly href: string; readonly host: string } | undefined => {
  if (!URL.canParse(url)) return undefined
  const { host, href, pathname, protocol } = new URL(url)
  if (protocol === "mailto:") return { href, host: pathname }
  return protocol === "https:" || protocol === "http:" ? { href, host } : undefined
}
