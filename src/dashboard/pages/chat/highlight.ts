/** A part of source text, by what it is for the eye. */
export interface Token {
  readonly kind: "plain" | "comment" | "string" | "number" | "keyword"
  readonly text: string
}

/** Of the languages that models write most; a word that is none in this language is rarely another thing. */
const keywords = new Set(
  `abstract and as async await begin bool boolean break case catch char class const constexpr continue def default defer
  delete do double elif else end enum except export extends extern false final finally float fn for foreach from func
  function global go goto if impl implements import in instanceof int interface is lambda let long loop match mod mut
  namespace new nil none not null or package pass private protected pub public raise readonly ref return self short
  signed static struct super switch this throw trait true try type typeof undefined union unsigned use using val var
  virtual void when where while with yield select insert update delete into values join on group order by having limit
  create table alter drop index primary key references`.split(/\s+/)
)

const hashComments = new Set(["python", "py", "ruby", "rb", "sh", "bash", "shell", "yaml", "yml", "toml", "r", "perl"])
const dashComments = new Set(["sql", "lua", "haskell", "hs"])

/** The tokens, in order: together they are the text. */
export const tokensOf = (text: string, language: string): ReadonlyArray<Token> => {
  const lower = language.toLowerCase()
  const line = hashComments.has(lower) ? "#" : dashComments.has(lower) ? "--" : "//"
  const tokens: Array<Token> = []
  let plain = ""
  const add = (kind: Token["kind"], end: number, at: number) => {
    if (plain !== "") tokens.push({ kind: "plain", text: plain })
    plain = ""
    tokens.push({ kind, text: text.slice(at, end) })
    return end
  }
  for (let at = 0; at < text.length; ) {
    const character = text[at] ?? ""
    if (text.startsWith(line, at)) at = add("comment", endOf(text, "\n", at), at)
    else if (text.startsWith("/*", at)) at = add("comment", after(text, "*/", at + 2), at)
    else if (character === '"' || character === "'" || character === "`") at = add("string", endOfString(text, at), at)
    else if (isLetter(character)) {
      let end = at
      while (end < text.length && (isLetter(text[end]) || isDigit(text[end]))) end += 1
      const word = text.slice(at, end)
      if (keywords.has(word) || (lower === "sql" && keywords.has(word.toLowerCase()))) at = add("keyword", end, at)
      else {
        plain += word
        at = end
      }
    } else if (isDigit(character)) {
      let end = at
      while (end < text.length && (isDigit(text[end]) || isLetter(text[end]) || text[end] === ".")) end += 1
      at = add("number", end, at)
    } else {
      plain += character
      at += 1
    }
  }
  if (plain !== "") tokens.push({ kind: "plain", text: plain })
  return tokens
}

const isLetter = (character: string | undefined): boolean => character !== undefined && /[\p{L}_$]/u.test(character)
const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= "0" && character <= "9"

const endOf = (text: string, mark: string, at: number): number => {
  const found = text.indexOf(mark, at)
  return found < 0 ? text.length : found
}
const after = (text: string, mark: string, at: number): number =>
  Math.min(text.length, endOf(text, mark, at) + mark.length)

/** An apostrophe that is never closed in its line is none. */
const endOfString = (text: string, at: number): number => {
  const quote = text[at]
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === "\\") end += 1
    else if (text[end] === quote) return end + 1
    else if (text[end] === "\n" && quote !== "`") return at + 1
  }
  return quote === "`" ? text.length : at + 1
}
