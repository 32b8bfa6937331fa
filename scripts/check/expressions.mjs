// @ts-check
// Refuses regular expressions in src/ whose time is not linear in the length of their input. An expression that only ever
// sees short input may stay, with a comment on its line or the one before that names the bound:
// `// linear: at most 2,048 characters`.
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

process.env.RECHECK_BACKEND = "auto"
const { checkSync } = await import("recheck")
const { default: ts } = await import("typescript")

const root = process.cwd()
const bound = /\/\/ linear: at most [\d,]+ (?:characters|bytes)\b/
const timeoutMillis = 120_000
// what counts are the steps: on a busy machine the library's limits of time would make any expression slow
const limits = {
  timeout: timeoutMillis,
  incubationTimeout: timeoutMillis,
  attackTimeout: timeoutMillis,
  attackLimit: 50_000_000
}

/** @import { Node, CallExpression, NewExpression } from "typescript" */

/**
 * A regular expression of a file; without a `pattern` it is built at run time. `lines` are its own and the one before.
 *
 * @typedef {{ file: string, line: number, pattern: string | undefined, flags: string, lines: ReadonlyArray<string> }} Expression
 */

/** @param {string} file */
const expressionsIn = (file) => {
  const text = readFileSync(file, "utf8")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  /** @type {Array<Expression>} */
  const found = []
  /** @param {Node} node @param {string | undefined} pattern @param {string} flags */
  const add = (node, pattern, flags) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    found.push({
      file: relative(root, file),
      line: line + 1,
      pattern,
      flags,
      lines: text.split("\n").slice(Math.max(0, line - 1), line + 1)
    })
  }
  const visit = (/** @type {Node} */ node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/")
      add(node, node.text.slice(1, end), node.text.slice(end + 1))
    } else if (isConstructor(node)) {
      const [pattern, flags] = node.arguments ?? []
      if (pattern !== undefined && ts.isRegularExpressionLiteral(pattern)) return
      const isConstant = pattern !== undefined && ts.isStringLiteralLike(pattern)
      add(
        node,
        isConstant ? pattern.text : undefined,
        flags !== undefined && ts.isStringLiteralLike(flags) ? flags.text : ""
      )
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** @param {Node} node @returns {node is NewExpression | CallExpression} */
const isConstructor = (node) =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === "RegExp"

/** What is wrong with an expression, or `undefined`. @param {Expression} expression */
const faultOf = ({ flags, lines, pattern }) => {
  if (lines.some((line) => bound.test(line))) return undefined
  if (pattern === undefined) return "is built at run time, so that nothing can be said of its time"
  if (isBounded(pattern, flags)) return undefined
  const key = `/${pattern}/${flags}`
  if (!judged.has(key)) judged.set(key, judge(pattern, flags))
  return judged.get(key)
}

/** @type {Map<string, string | undefined>} */
const judged = new Map()

/** @param {string} pattern @param {string} flags */
const judge = (pattern, flags) => {
  const verdict = checkSync(pattern, flags, limits)
  if (verdict.status === "safe") return undefined
  return verdict.status === "vulnerable"
    ? `takes ${verdict.complexity.summary} time`
    : `could not be judged (${verdict.error.kind})`
}

/**
 * Whether the number of steps of each attempt is bounded, and there is one attempt for each place at most: without a repetition that has
 * no end and, unless it is tried at the start only, without any but `?`. Proving that is what takes the library longest.
 *
 * @param {string} pattern
 * @param {string} flags
 */
const isBounded = (pattern, flags) => {
  const bare = pattern.replace(/\\./g, "x").replace(/\[[^\]]*\]/g, "x")
  if (/[*+]|\{\d+,\}/.test(bare)) return false
  return !/\{/.test(bare) || (bare.startsWith("^") && !bare.includes("|") && !flags.includes("m"))
}

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => join(root, "src", file))
const expressions = files.flatMap(expressionsIn)
const faults = expressions.flatMap((expression) => {
  const fault = faultOf(expression)
  return fault === undefined ? [] : [`${expression.file}:${expression.line} /${expression.pattern ?? "…"}/ ${fault}`]
})

if (faults.length > 0) {
  console.error(faults.join("\n"))
  console.error(`${faults.length} of ${expressions.length} regular expressions are not linear`)
  process.exit(1)
}
console.log(`${expressions.length} regular expressions are linear`)
