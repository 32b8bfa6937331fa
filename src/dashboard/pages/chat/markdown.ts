/** The Markdown that models write, as a tree. It has no raw HTML: what looks like it is text. */
export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly of: ReadonlyArray<Inline> }
  | { readonly kind: "link"; readonly href: string; readonly host: string; readonly of: ReadonlyArray<Inline> }
  /** A link that leads nowhere safe. */
  | { readonly kind: "blocked"; readonly text: string }
  | { readonly kind: "break" }

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

/** Lists, quotes and emphasis in each other; what is deeper is text. */
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

const cellsOf = (line: string): Row => {
  const text = line.trim()
  return text
    .slice(text.startsWith("|") ? 1 : 0, text.endsWith("|") && text.length > 1 ? -1 : undefined)
    .split("|")
    .map((cell) => inlineOf(cell.trim()))
}

const marks = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"]
] as const

const special = "`*_~[!\\h\n"

/** What is open at its end, as while it is streamed, is text. The label of a link has none itself. */
export const inlineOf = (text: string, depth = 0, isLabel = false): ReadonlyArray<Inline> => {
  const found: Array<Inline> = []
  let plain = ""
  const add = (node: Inline) => {
    if (plain !== "") found.push({ kind: "text", text: plain })
    plain = ""
    found.push(node)
  }
  for (let at = 0; at < text.length; ) {
    const character = text[at] ?? ""
    const next = special.includes(character) && depth < maxDepth ? inlineAt(text, at, depth, isLabel) : undefined
    if (next === undefined) {
      plain += character
      at += 1
    } else {
      if (next.node.kind === "text") plain += next.node.text
      else add(next.node)
      at = next.end
    }
  }
  if (plain !== "") found.push({ kind: "text", text: plain })
  return found
}

interface Found {
  readonly node: Inline
  readonly end: number
}

const inlineAt = (text: string, at: number, depth: number, isLabel: boolean): Found | undefined => {
  const character = text[at] ?? ""
  const following = text[at + 1] ?? ""
  if (character === "\n") return { node: { kind: "break" }, end: at + 1 }
  if (character === "\\" && "\\`*_~[]()#+-.!|>".includes(following) && following !== "") {
    return { node: { kind: "text", text: following }, end: at + 2 }
  }
  if (character === "`") return codeAt(text, at)
  if (isLabel && "![h".includes(character)) return undefined
  if (character === "!") return following === "[" ? imageAt(text, at) : undefined
  if (character === "[") return linkAt(text, at, depth)
  if (character === "h") return bareLinkAt(text, at)
  // a letter before an underscore makes it a part of a word
  if (character === "_" && isWord(text[at - 1])) return undefined
  for (const [mark, kind] of marks) {
    if (!text.startsWith(mark, at) || isSpace(text[at + mark.length])) continue
    const end = text.indexOf(mark, at + mark.length + 1)
    if (end < 0 || isSpace(text[end - 1]) || end - at > maxEmphasis) continue
    return {
      node: { kind, of: inlineOf(text.slice(at + mark.length, end), depth + 1, isLabel) },
      end: end + mark.length
    }
  }
  return undefined
}

/** Characters of an emphasis or a link: what is longer is text. */
const maxEmphasis = 2_000

const isSpace = (character: string | undefined): boolean => character === undefined || character.trim() === ""
const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)

const codeAt = (text: string, at: number): Found | undefined => {
  let length = 1
  while (text[at + length] === "`") length += 1
  const end = text.indexOf("`".repeat(length), at + length)
  if (end < 0) return { node: { kind: "text", text: "`".repeat(length) }, end: at + length }
  return { node: { kind: "code", text: text.slice(at + length, end).trim() }, end: end + length }
}

const targetAt = (
  text: string,
  at: number
): { readonly label: string; readonly url: string; readonly end: number } | undefined => {
  const middle = text.indexOf("](", at)
  if (middle < 0 || middle - at > maxEmphasis) return undefined
  const end = closingAt(text, middle + 2)
  if (end === undefined) return undefined
  const [url = ""] = text
    .slice(middle + 2, end)
    .trim()
    .split(" ")
  return { label: text.slice(at + 1, middle), url, end: end + 1 }
}

/** The parenthesis that ends an address, which may have pairs of its own. */
const closingAt = (text: string, at: number): number | undefined => {
  let open = 0
  for (let end = at; end < text.length && end - at < maxEmphasis; end += 1) {
    if (text[end] === "(") open += 1
    else if (text[end] === ")") {
      if (open === 0) return end
      open -= 1
    }
  }
  return undefined
}

const linkAt = (text: string, at: number, depth: number): Found | undefined => {
  const target = targetAt(text, at)
  if (target === undefined) return undefined
  const safe = safeUrl(target.url)
  const node: Inline =
    safe === undefined
      ? { kind: "blocked", text: target.label }
      : { kind: "link", ...safe, of: inlineOf(target.label, depth + 1, true) }
  return { node, end: target.end }
}

/** An image of another host would tell it who reads: it is a link. */
const imageAt = (text: string, at: number): Found | undefined => {
  const target = targetAt(text, at + 1)
  if (target === undefined) return undefined
  const safe = safeUrl(target.url)
  const label = `image: ${target.label}`
  const node: Inline =
    safe === undefined
      ? { kind: "blocked", text: label }
      : { kind: "link", ...safe, of: [{ kind: "text", text: label }] }
  return { node, end: target.end }
}

const bareLinkAt = (text: string, at: number): Found | undefined => {
  if (!text.startsWith("https://", at) && !text.startsWith("http://", at)) return undefined
  let end = at
  let open = 0
  for (; end < text.length && !isSpace(text[end]) && !'<>"`|]'.includes(text[end] ?? ""); end += 1) {
    if (text[end] === "(") open += 1
    // it ends what the address stands in
    else if (text[end] === ")" && open-- === 0) break
  }
  while (end > at && ".,;:!?*_~'".includes(text[end - 1] ?? "")) end -= 1
  const url = text.slice(at, end)
  const safe = safeUrl(url)
  return safe === undefined ? undefined : { node: { kind: "link", ...safe, of: [{ kind: "text", text: url }] }, end }
}

/** Only links that leave the page, and only of these schemes. */
const safeUrl = (url: string): { readonly href: string; readonly host: string } | undefined => {
  if (!URL.canParse(url)) return undefined
  const { host, href, pathname, protocol } = new URL(url)
  if (protocol === "mailto:") return { href, host: pathname }
  return protocol === "https:" || protocol === "http:" ? { href, host } : undefined
}
