import { randomUUID } from "node:crypto"
import type { ChatRequest } from "../../../domain/Chat.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import type { StringLiteral } from "../../../domain/StringLiterals.ts"

/** JSON as text, or in UTF-8. */
export type UpstreamBody = string | Uint8Array

/**
 * The body as JSON, without halves of surrogate pairs: text that a client has cut within a character has them, and providers reject
 * a body with one as no valid JSON. Long strings that the client's own body had are copied from there; where several have the same length,
 * as far as they come in the client's order.
 */
export const writeBody = (body: object, { stringLiterals }: ChatRequest): UpstreamBody => {
  const literals = stringLiterals?.take() ?? []
  if (literals.length === 0) return withoutHalves(writeExactly(body))
  const marking = new Marking(literals)
  const text = withoutHalves(writeExactly(marking.copyOf(body)))
  return marking.found.length === 0 ? text : withLiterals(text.split(`"${marking.mark}"`), marking.found)
}

/** JSON as it is written here: of all that is escaped, only halves of pairs begin so. */
const withoutHalves = (json: string): string =>
  json.includes("\\ud")
    ? json.replace(/\\(?:ud[0-9a-f]{3}|.)/g, (escaped) => (escaped.length > 2 ? replacementCharacter : escaped))
    : json

const replacementCharacter = "\ufffd"

/** How many literals are compared with one string: all have its length, and may differ in the last character only. */
const maxCompared = 8

/** Literals whose values have one length, in the client's order. */
interface SameLength {
  readonly literals: Array<StringLiteral>
  /** Those before it have been copied, or passed over. */
  next: number
}

/** Copies a JSON value with marks in the place of strings that have a literal. */
class Marking {
  /** Cannot be guessed: no string of a request contains it. */
  readonly mark = randomUUID()
  /** The literals of the marks, in the order of the JSON text. */
  readonly found: Array<StringLiteral> = []
  private readonly byLength = new Map<number, SameLength>()
  private shortest = Number.POSITIVE_INFINITY

  constructor(literals: ReadonlyArray<StringLiteral>) {
    for (const literal of literals) {
      const { length } = literal.value
      const same = this.byLength.get(length)
      if (same === undefined) this.byLength.set(length, { literals: [literal], next: 0 })
      else same.literals.push(literal)
      if (length < this.shortest) this.shortest = length
    }
  }

  /** The value itself where there is nothing to mark. */
  copyOf(value: object): object {
    if (Array.isArray(value)) {
      let copy: Array<unknown> | undefined
      for (let at = 0; at < value.length; at++) {
        const inner: unknown = value[at]
        const marked = this.marked(inner)
        if (marked === inner) continue
        copy ??= value.slice()
        copy[at] = marked
      }
      return copy ?? value
    }
    const members = value as Record<string, unknown>
    let copy: Record<string, unknown> | undefined
    for (const name in members) {
      const inner = members[name]
      const marked = this.marked(inner)
      if (marked === inner) continue
      copy ??= { ...members }
      copy[name] = marked
    }
    return copy ?? members
  }

  private marked(value: unknown): unknown {
    if (typeof value === "string") return value.length >= this.shortest && this.find(value) ? this.mark : value
    return typeof value === "object" && value !== null ? this.copyOf(value) : value
  }

  private find(value: string): boolean {
    const same = this.byLength.get(value.length)
    if (same === undefined) return false
    const end = Math.min(same.next + maxCompared, same.literals.length)
    for (let at = same.next; at < end; at++) {
      const literal = same.literals[at]
      if (literal?.value !== value) continue
      same.next = at + 1
      this.found.push(literal)
      return true
    }
    return false
  }
}

/** One more part than literals: they stand between the parts. */
const withLiterals = (parts: ReadonlyArray<string>, literals: ReadonlyArray<StringLiteral>): Uint8Array => {
  const size =
    parts.reduce((bytes, part) => bytes + Buffer.byteLength(part), 0) +
    literals.reduce((bytes, { utf8 }) => bytes + utf8.length, 0)
  const written = Buffer.allocUnsafe(size)
  let at = 0
  for (const [index, part] of parts.entries()) {
    at += written.write(part, at)
    const literal = literals[index]
    if (literal === undefined) continue
    written.set(literal.utf8, at)
    at += literal.utf8.length
  }
  return written
}
