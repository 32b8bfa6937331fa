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
 * Parses JSON in valid UTF-8. Long strings are parsed each by itself, and the rest with a mark in the place of each: no string of
 * the whole body's size is made, which costs more than parsing it. A large body is parsed in steps.
 */
export class Parsing {
  private readonly bytes: Buffer
  private readonly encoding: "latin1" | "utf8"
  private longStrings: ReadonlyArray<number>
  /** Of the next long string. */
  private next = 0
  private readonly mark: string
  private readonly values: Array<string> = []
  private readonly literals: Array<StringLiteral> = []
  /** The text up to `from`, with marks. */
  private text = ""
  private from = 0

  /** @param longStrings for each, where its literal starts and ends: see `boundsOf` */
  constructor(bytes: Buffer, longStrings: ReadonlyArray<number>) {
    this.bytes = bytes
    this.encoding = isAscii(bytes) ? "latin1" : "utf8"
    this.longStrings = bytesIn(longStrings) < minBytes ? [] : longStrings
    this.mark = this.longStrings.length === 0 ? "" : randomUUID()
  }

  /** Parses long strings of so many bytes, and the last one whole; whether there are others. */
  more(maxBytes: number): boolean {
    try {
      for (let parsed = 0; parsed < maxBytes && this.next < this.longStrings.length; this.next += 2) {
        const start = this.longStrings[this.next] ?? 0
        const end = this.longStrings[this.next + 1] ?? 0
        this.parseApart(start, end)
        parsed += end - start
      }
    } catch {
      this.parseAsWhole()
    }
    return this.next < this.longStrings.length
  }

  /** Parses the rest; throws as `JSON.parse` does. */
  end(): ParsedJson {
    this.more(Number.POSITIVE_INFINITY)
    if (this.values.length > 0) {
      try {
        return this.rest()
      } catch {
        this.parseAsWhole()
      }
    }
    return { json: parseExactly(this.bytes.toString(this.encoding)), literals: undefined }
  }

  private parseApart(start: number, end: number): void {
    const { bytes, encoding } = this
    const value: string = JSON.parse(bytes.toString(encoding, start, end))
    this.text += `${bytes.toString(encoding, this.from, start)}"${this.mark}${this.values.length}"`
    this.from = end
    this.values.push(value)
    const utf8 = bytes.subarray(start, end)
    if (isCompact(value, utf8.length) && isWhole(value, utf8)) this.literals.push({ value, utf8 })
  }

  private rest(): ParsedJson {
    const root = { json: parseExactly(this.text + this.bytes.toString(this.encoding, this.from)) }
    new Restoring(this.mark, this.values).restore(root)
    return { json: root.json, literals: this.literals.length === 0 ? undefined : new StringLiterals(this.literals) }
  }

  /** The JSON is invalid: the error of the whole text names its position. */
  private parseAsWhole(): void {
    this.longStrings = []
    this.values.length = 0
  }
}

const bytesIn = (longStrings: ReadonlyArray<number>): number => {
  let bytes = 0
  for (let at = 0; at < longStrings.length; at += 2) bytes += (longStrings[at + 1] ?? 0) - (longStrings[at] ?? 0)
  return bytes
}

/** A client that escapes what needs no escape has literals of several times the size: a provider may refuse a body for its size. */
const isCompact = (value: string, bytes: number): boolean => {
  const max = bytes / 1.25
  return value.length >= max || Buffer.byteLength(value) >= max
}

/**
 * Without halves of surrogate pairs, which are never sent. In UTF-8 only escapes can be such, and looking for these costs a hundredth
 * of looking at every character.
 */
const isWhole = (value: string, utf8: Buffer): boolean =>
  !(utf8.includes("\\ud") || utf8.includes("\\uD")) || value.isWellFormed()

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

  restore(node: object): void {
    if (Array.isArray(node)) {
      for (let at = 0; at < node.length && this.left > 0; at++) {
        const inner: unknown = node[at]
        if (typeof inner === "string") {
          if (inner.startsWith(this.mark)) node[at] = this.valueOf(inner)
        } else if (typeof inner === "object" && inner !== null) this.restore(inner)
      }
      return
    }
    const members = node as Record<string, unknown>
    for (const name in members) {
      if (this.left === 0) return
      const inner = members[name]
      if (typeof inner === "string") {
        if (inner.startsWith(this.mark)) members[name] = this.valueOf(inner)
      } else if (typeof inner === "object" && inner !== null) this.restore(inner)
    }
  }

  private valueOf(marked: string): string | undefined {
    this.left -= 1
    return this.values[Number(marked.slice(this.mark.length))]
  }
}
