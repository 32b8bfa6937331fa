// @ts-check
// Refuses words that have a term of the field in their place, in the comments, strings and identifiers of src/, test/ and
// scripts/ and in the Markdown files. Code in backticks is not prose: it is checked where it is declared. What has to stay, a
// vendor's field names above all, is in `allowedWords.mjs`.
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"
import { allowedWords, exemptFolders } from "./allowedWords.mjs"

/** @import { AllowedText } from "./allowedWords.mjs" */
/** @typedef {{ kind: "comment" | "string" | "identifier", text: string, start: number }} Piece */
/** @typedef {{ at: number, text: string, instead: string }} Hit */

const root = process.cwd()

/** Words of comments, of strings, and of the parts of identifiers. */
/** @type {ReadonlyArray<readonly [pattern: RegExp, instead: string]>} */
const words = [
  [/\bbooks?\b/gi, "ledger, records"],
  [/\bdoors?\b/gi, "connection, endpoint"],
  [/\bhouse\b/gi, "operator"],
  [/\b(?:thoughts?|thinking)\b/gi, "reasoning"],
  [/\bwhole (?:\w+ )?answers?\b/gi, "complete response"],
  [/\bplain (?:\w+ )?answers?\b/gi, "non-streaming response"],
  [/\busual(?:ly)?\b/gi, "default"],
  [/\bhurry\b/gi, "force"],
  [/\bbeg[aiu]ns? anew\b/gi, "reset, start again"],
  [/\bonce more\b/gi, "again"],
  [/\bin force\b/gi, "active, current, configured"],
  [/\bfor ever\b/gi, "forever, in total"],
  [/\bfor good\b/gi, "permanently"],
  [/\b(?:taken?|takes|taking) back\b/gi, "undone, reverted"],
  [/\bsomebody\b/gi, "a user, a caller"],
  [/\bfor want of\b/gi, "because of insufficient"],
  [/\bproviders? of payments\b/gi, "payment provider"]
]

/** As a verb it is a word like any other, so only uses as a noun are refused. */
/** @type {readonly [pattern: RegExp, instead: string]} */
const offerInProse = [
  /\b(?:an?|the|its|on|of|no|this|that|each|every) offers?\b/gi,
  "what is meant: tools, models, push"
]

/** @type {readonly [pattern: RegExp, instead: string]} */
const bounds = [/^(?:most|longest|deepest|least|fewest)[A-Z]\w*/g, "max… or min…"]

/** @param {string} text @param {readonly [pattern: RegExp, instead: string]} rule @returns {Array<Hit>} */
const hitsOf = (text, [pattern, instead]) =>
  [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ at: index, text: found, instead }))

/** Replaces by spaces of the same length. @param {string} text @param {RegExp} pattern */
const blank = (text, pattern) => text.replace(pattern, (code) => code.replace(/[^\n]/g, " "))

/** @param {string} text */
const withoutCode = (text) => blank(blank(text, /```[\s\S]*?```/g), /`[^`\n]*`/g)

const inProse = [...words, offerInProse]
/** Most texts have none of them, and one pass tells. */
const anyInProse = new RegExp(inProse.map(([{ source }]) => source).join("|"), "i")

/** @param {string} prose @returns {Array<Hit>} */
const hitsInProse = (prose) => (anyInProse.test(prose) ? inProse.flatMap((rule) => hitsOf(prose, rule)) : [])

/** A name occurs many times. @type {Map<string, Array<Hit>>} */
const ofNames = new Map()

/** @param {string} name @returns {Array<Hit>} */
const hitsInName = (name) => {
  const known = ofNames.get(name)
  if (known !== undefined) return known
  const parts = name.replace(/_/g, " ").replace(/([a-z\d])([A-Z])/g, "$1 $2")
  const found = [...words.flatMap((rule) => hitsOf(parts, rule)), ...hitsOf(name, bounds)]
  const hits = found.map((hit) => ({ ...hit, at: 0 })).slice(0, 1)
  ofNames.set(name, hits)
  return hits
}

/** @param {Piece} piece @returns {Array<Hit>} */
const hitsIn = ({ kind, text }) => (kind === "identifier" ? hitsInName(text) : hitsInProse(withoutCode(text)))

/** Identifiers, strings and comments of a source file, in order. @param {string} file @param {string} text */
const piecesOf = (file, text) => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  /** @type {Array<Piece>} */
  const pieces = []
  const visit = (/** @type {import("typescript").Node} */ node) => {
    if (ts.isJSDoc(node)) return
    const children = node.getChildren(source)
    if (children.length > 0) return children.forEach(visit)
    const start = node.getStart(source)
    // between two tokens there is nothing but space and comments
    const between = text.slice(node.getFullStart(), start)
    if (between.trim() !== "") pieces.push({ kind: "comment", text: between, start: node.getFullStart() })
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      pieces.push({ kind: "identifier", text: isMethod(node) ? "" : node.text, start })
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      // without the delimiters, of which a template's are backticks too
      pieces.push({ kind: "string", text: node.getText(source).slice(1, -1), start: start + 1 })
    }
  }
  visit(source)
  return pieces
}

/** The method `offer` of Effect's queues. @param {import("typescript").Node} node */
const isMethod = (node) =>
  ts.isPropertyAccessExpression(node.parent) && node.parent.name === node && node.getText() === "offer"

/** @type {Map<string, number>} */
const uses = new Map()
/** @param {AllowedText} allowed @param {string} value */
const count = (allowed, value) => {
  const key = `${allowedWords.indexOf(allowed)} ${value}`
  uses.set(key, (uses.get(key) ?? 0) + 1)
}

/** Whether an entry covers the hit: a name or a whole string as it is, or a longer text around the word. @param {string} file @param {Piece} piece @param {Hit} hit */
const isAllowed = (file, { kind, text }, hit) =>
  allowedWords.some((allowed) => {
    const folder = allowed.files.find((path) => file === path || (path.endsWith("/") && file.startsWith(path)))
    if (folder === undefined) return false
    const found = allowed.texts.find((exact) => {
      if (kind !== "comment" && text === exact) return true
      return /\W/.test(exact) && [...text.matchAll(literally(exact))].some((match) => covers(match, exact, hit))
    })
    if (found === undefined) return false
    count(allowed, folder)
    count(allowed, found)
    return true
  })

/** @param {string} text */
const literally = (text) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g")

/** @param {RegExpExecArray} match @param {string} exact @param {Hit} hit */
const covers = ({ index }, exact, hit) => index <= hit.at && hit.at + hit.text.length <= index + exact.length

/** @param {string} folder @returns {Array<string>} */
const filesIn = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = relative(root, join(root, folder, entry.name))
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesIn(path)
    return /\.(?:ts|mjs|js|md)$/.test(entry.name) ? [path] : []
  })

const files = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["src", "test", "scripts"].flatMap(filesIn)
].filter((file) => !exemptFolders.some((folder) => file.startsWith(folder)))

const faults = files.flatMap((file) => {
  const text = readFileSync(join(root, file), "utf8")
  /** @type {Array<Piece>} */
  const pieces = file.endsWith(".md") ? [{ kind: "comment", text, start: 0 }] : piecesOf(file, text)
  return pieces.flatMap((piece) =>
    hitsIn(piece).flatMap((hit) => {
      if (isAllowed(file, piece, hit)) return []
      const line = text.slice(0, piece.start + hit.at).split("\n").length
      const shown = piece.kind === "identifier" ? piece.text : hit.text
      return [`${file}:${line} ${piece.kind} '${shown}': say ${hit.instead}`]
    })
  )
})

const unused = allowedWords.flatMap((allowed, index) =>
  [...allowed.files, ...allowed.texts].flatMap((value) =>
    uses.has(`${index} ${value}`) ? [] : [`scripts/check/allowedWords.mjs: '${value}' is allowed and not used`]
  )
)

if (faults.length + unused.length > 0) {
  console.error([...faults, ...unused].join("\n"))
  console.error(`${faults.length} refused words, ${unused.length} unused exceptions`)
  process.exit(1)
}
console.log(`${files.length} files without refused words`)
