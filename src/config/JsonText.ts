import * as Either from "effect/Either"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import type { JsonPath } from "../domain/JsonPath.ts"
import { issueAt } from "./ConfigIssue.ts"

/**
 * Parses the operator's JSON file. `JSON.parse` reports no position for most errors, quotes the text around them, which may
 * hold a secret, and silently keeps the last of two equal keys; so the text is walked once before.
 */
export const parseJson = (text: string): Either.Either<unknown, ReadonlyArray<ConfigIssue>> => {
  const walk = new Walk(text.startsWith("\uFEFF") ? text.slice(1) : text)
  const issues = walk.document()
  return issues.length > 0 ? Either.left(issues) : Either.right(JSON.parse(walk.text))
}

const maxDepth = 64
const string = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy
const atom = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const space = /[ \t\r\n]*/y

/** Ends the walk at the first syntax error. */
class Broken extends Error {}

class Walk {
  readonly text: string
  private at = 0
  private readonly issues: Array<ConfigIssue> = []

  constructor(text: string) {
    this.text = text
  }

  document(): ReadonlyArray<ConfigIssue> {
    try {
      this.value([])
      this.skip()
      if (this.at < this.text.length) this.broken([], "there is more after the end of the JSON value")
    } catch (thrown) {
      if (!(thrown instanceof Broken)) throw thrown
    }
    return this.issues
  }

  private value(path: JsonPath): void {
    if (path.length > maxDepth) this.broken(path, `is nested deeper than ${maxDepth} levels`)
    this.skip()
    const first = this.text[this.at]
    if (first === "{") this.object(path)
    else if (first === "[") this.array(path)
    else if (first === '"') this.string(path)
    else if (this.take(atom) === "") this.broken(path, "a value is expected")
  }

  private object(path: JsonPath): void {
    const seen = new Set<string>()
    this.at += 1
    if (this.next("}")) return
    do {
      this.skip()
      const key = this.string(path)
      if (seen.has(key)) this.issues.push(issueAt([...path, key], "is given twice"))
      seen.add(key)
      if (!this.next(":")) this.broken([...path, key], "':' is expected")
      this.value([...path, key])
    } while (this.next(","))
    if (!this.next("}")) this.broken(path, "',' or '}' is expected")
  }

  private array(path: JsonPath): void {
    this.at += 1
    if (this.next("]")) return
    let index = 0
    do {
      this.value([...path, index])
      index += 1
    } while (this.next(","))
    if (!this.next("]")) this.broken(path, "',' or ']' is expected")
  }

  private string(path: JsonPath): string {
    const literal = this.take(string)
    if (literal === "") this.broken(path, "a string in double quotes is expected")
    return JSON.parse(literal)
  }

  private next(character: string): boolean {
    this.skip()
    if (this.text[this.at] !== character) return false
    this.at += 1
    return true
  }

  private skip(): void {
    this.take(space)
  }

  private take(token: RegExp): string {
    token.lastIndex = this.at
    const found = token.exec(this.text)?.[0] ?? ""
    this.at += found.length
    return found
  }

  private broken(path: JsonPath, message: string): never {
    const before = this.text.slice(0, this.at).split("\n")
    const column = (before.at(-1)?.length ?? 0) + 1
    this.issues.push(issueAt(path, `is not valid JSON at line ${before.length}, column ${column}: ${message}`))
    throw new Broken()
  }
}
