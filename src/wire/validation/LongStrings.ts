import { isAscii } from "node:buffer"
import { randomUUID } from "node:crypto"
import { parseExactly } from "../../domain/ExactJson.ts"
import { type StringLiteral, StringLiterals } from "../../domain/StringLiterals.ts"

/** A JSON value, and its long strings as they were written; `undefined` where they are too few to be worth it. */
export interface ParsedJson {
  readonly json: unknown
  readonly literals: StringLiterals | undefined
}

/** Long strings of fewer bytes in all cost less than what follows. */
const minBytes = 8 * 1024

/**
 * Parses valid UTF-8, throws as `JSON.parse` does. Long strings are parsed each by itself, and the rest with a mark in the place of
 * each: no string of the whole body's size is made, which costs more than parsing it.
 *
 * @param longStrings for each, where its literal starts and ends: see `boundsOf`
 */
export const parse = (bytes: Buffer, longStrings: ReadonlyArray<number>): ParsedJson => {
  const encoding = isAscii(bytes) ? "latin1" : "utf8"
  if (bytesIn(longStrings) >= minBytes) {
    try {
      return parseApart(bytes, encoding, longStrings)
    } catch {
      // invalid: parsed as a whole, so that the error names its position
    }
  }
  return { json: parseExactly(bytes.toString(encoding)), literals: undefined }
}

const bytesIn = (longStrings: ReadonlyArray<number>): number => {
  let bytes = 0
  for (let at = 0; at < longStrings.length; at += 2) bytes += (longStrings[at + 1] ?? 0) - (longStrings[at] ?? 0)
  return bytes
}

const parseApart = (bytes: Buffer, encoding: "latin1" | "utf8", longStrings: ReadonlyArray<number>): ParsedJson => {
  const mark = randomUUID()
  const values: Array<string> = []
  const literals: Array<StringLiteral> = []
  let text = ""
  let from = 0
  for (let at = 0; at < longStrings.length; at += 2) {
    const start = longStrings[at] ?? 0
    const end = longStrings[at + 1] ?? 0
    const value: string = JSON.parse(bytes.toString(encoding, start, end))
    text += `${bytes.toString(encoding, from, start)}"${mark}${values.length}"`
    from = end
    values.push(value)
    if (isCompact(value, end - start)) literals.push({ value, utf8: bytes.subarray(start, end) })
  }
  text += bytes.toString(encoding, from)
  const root = { json: parseExactly(text) }
  new Restoring(mark, values).in(root)
  return { json: root.json, literals: literals.length === 0 ? undefined : new StringLiterals(literals) }
}

/** A client that escapes what needs no escape has literals of up to twice the size: a provider may refuse a body for its size. */
const isCompact = (value: string, bytes: number): boolean => {
  const max = bytes / 1.25
  return value.length >= max || Buffer.byteLength(value) >= max
}

/** Puts values in the place of their marks. The depth of what it walks through is bounded. */
class Restoring {
  private readonly mark: string
  private readonly values: ReadonlyArray<string>
  private left: number

  constructor(mark: string, values: ReadonlyArray<string>) {
    this.mark = mark
    this.values = values
    this.left = values.length
  }

  in(node: object): void {
    if (Array.isArray(node)) {
      for (let at = 0; at < node.length && this.left > 0; at++) {
        const inner: unknown = node[at]
        if (typeof inner === "string") {
          if (inner.startsWith(this.mark)) node[at] = this.valueOf(inner)
        } else if (typeof inner === "object" && inner !== null) this.in(inner)
      }
      return
    }
    const members = node as Record<string, unknown>
    for (const name in members) {
      if (this.left === 0) return
      const inner = members[name]
      if (typeof inner === "string") {
        if (inner.startsWith(this.mark)) members[name] = this.valueOf(inner)
      } else if (typeof inner === "object" && inner !== null) this.in(inner)
    }
  }

  private valueOf(marked: string): string | undefined {
    this.left -= 1
    return this.values[Number(marked.slice(this.mark.length))]
  }
}
