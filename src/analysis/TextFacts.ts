import { createHash } from "node:crypto"
import type { TextCounts } from "./Calibration.ts"
import type { Interner } from "./Workload.ts"

export type Count = (text: string) => TextCounts

/** What the facts of a block are before a route's bills say how it counts. */
export interface CountedFacts {
  readonly json: boolean
  readonly minified: TextCounts | null
  readonly washed: TextCounts | null
  readonly paragraphs: ReadonlyArray<{ readonly key: number; readonly counts: TextCounts }>
  readonly rejectsJson: boolean
}

/** What the text of one block says; `later` is what the conversation's later turns of the model have written. */
export const factsOf = (
  text: string,
  kind: string,
  { tokens }: TextCounts,
  later: string,
  count: Count,
  interner: Interner
): CountedFacts => {
  const minified = kind === "tool_result" ? minify(text) : undefined
  return {
    json: minified !== undefined,
    minified: minified === undefined ? null : count(minified),
    washed: kind === "tool_result" && tokens > minWashTokens ? washedCounts(text, tokens, later, count) : null,
    paragraphs: kind === "user" || kind === "system" ? paragraphsOf(text, count, interner) : [],
    rejectsJson: kind === "user" && rejection.test(text)
  }
}

const minWashTokens = 800
const minWashSaving = 0.4
const minParagraphCharacters = 200

const rejection = /\b(invalid|not valid|malformed|pars(e|ed|ing)|valid json|only (the )?json|schema)\b/iu

const minify = (text: string): string | undefined => {
  const start = text.trimStart()
  if (!start.startsWith("{") && !start.startsWith("[")) return undefined
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Also of JSON in a fence, as models like to write it. */
export const parsesAsJson = (text: string): boolean => {
  const trimmed = text.trim()
  const fence = /^```(?:json)?[ \t]*\n/u.exec(trimmed)?.[0]
  return minify(fence !== undefined && trimmed.endsWith("```") ? trimmed.slice(fence.length, -3) : text) !== undefined
}

const washedCounts = (text: string, tokens: number, later: string, count: Count): TextCounts | null => {
  const washed = wash(text)
  if (washed === undefined) return null
  const after = count(washed.text)
  if (after.tokens > (1 - minWashSaving) * tokens) return null
  return washed.removed.some((line) => later.includes(line)) ? null : after
}

/** The text without encoded bytes, markup and repeated lines, and samples of what was removed; `undefined` where it has none. */
const wash = (text: string): { readonly text: string; readonly removed: ReadonlyArray<string> } | undefined => {
  const removed: Array<string> = []
  let washed = replaceBase64(text, (run) => {
    removed.push(run.slice(0, sampleCharacters))
    return `[${run.length} characters of base64]`
  })
  const tags = washed.match(tag) ?? []
  if (tags.reduce((sum, each) => sum + each.length, 0) > minTagShare * washed.length) {
    const long = tags.filter((each) => each.length >= sampleCharacters).slice(0, maxSamples)
    removed.push(...long)
    washed = withoutElements(washed, ["script", "style"])
      .replace(tag, " ")
      .replace(/[ \t]{2,}/gu, " ")
      .replace(/\n\s*\n+/gu, "\n")
  }
  // the lines of indented JSON look alike: its white space is another matter
  const lines = minify(text) === undefined ? washed.split("\n") : []
  const shapes = new Map<string, number>()
  for (const line of lines) shapes.set(shapeOf(line), (shapes.get(shapeOf(line)) ?? 0) + 1)
  const repeated = lines.filter((line) => (shapes.get(shapeOf(line)) ?? 0) >= minRepeats)
  if (lines.length > 0 && repeated.length > minRepeatedShare * lines.length) {
    const seen = new Set<string>()
    washed = lines
      .flatMap((line) => {
        const shape = shapeOf(line)
        const times = shapes.get(shape) ?? 0
        if (times < minRepeats) return [line]
        if (seen.has(shape)) {
          if (line.length >= sampleCharacters && removed.length < maxSamples) removed.push(line)
          return []
        }
        seen.add(shape)
        return [`${line} [${times} lines like this]`]
      })
      .join("\n")
  }
  return washed === text ? undefined : { text: washed, removed }
}

const tag = /<[^<>]{1,2000}>/gu
const minTagShare = 0.3
const minRepeats = 5
const minRepeatedShare = 0.6
const sampleCharacters = 40
const maxSamples = 200
const shapeOf = (line: string): string => line.replaceAll(/\d+/gu, "#")

const paragraphsOf = (text: string, count: Count, interner: Interner): CountedFacts["paragraphs"] =>
  text
    .split(/\n\s*\n/u)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph.length >= minParagraphCharacters)
    .map((paragraph) => ({ key: interner.keyOf(`paragraph ${hashOf(paragraph)}`), counts: count(paragraph) }))

export const hashOf = (text: string): string => createHash("sha1").update(text).digest("base64url")

const minBase64Characters = 512
const equalsSign = 0x3d

/** Runs of base64 of at least that length, each replaced. */
const replaceBase64 = (text: string, replacement: (run: string) => string): string => {
  let replaced = ""
  let from = 0
  for (let start = 0; start < text.length; start++) {
    let end = start
    while (end < text.length && isBase64(text.charCodeAt(end))) end++
    if (end - start >= minBase64Characters) {
      for (let padding = 0; padding < 2 && text.charCodeAt(end) === equalsSign; padding++) end++
      replaced += text.slice(from, start) + replacement(text.slice(start, end))
      from = end
    }
    start = end
  }
  return replaced + text.slice(from)
}

const isBase64 = (unit: number): boolean =>
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x30 && unit <= 0x39) ||
  unit === 0x2b ||
  unit === 0x2f

/** The text with a space for each whole element of these names; one that has no end stays. */
const withoutElements = (text: string, names: ReadonlyArray<string>): string => {
  let left = text
  for (const name of names) {
    const lower = left.toLowerCase()
    // lower case can have another length: places in it would not be those of the text
    if (lower.length !== left.length) return left
    const close = `</${name}>`
    let kept = ""
    let from = 0
    for (let open = lower.indexOf(`<${name}`); open >= 0; open = lower.indexOf(`<${name}`, from)) {
      const end = lower.indexOf(close, open)
      if (end < 0) break
      kept += `${left.slice(from, open)} `
      from = end + close.length
    }
    left = kept + left.slice(from)
  }
  return left
}
