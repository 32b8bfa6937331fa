import { createContext } from "react"

/** What may be kept of an answer. */
export interface Part {
  readonly content: string
  /** Of a code block, as the model has named it; `markdown` for all of its text. */
  readonly language: string
}

/** Opens the dialog that saves a part as an artifact; `undefined` where nothing can be saved now. */
export const SaveAsArtifact = createContext<((part: Part) => void) | undefined>(undefined)

interface Kind {
  readonly type: string
  readonly extension: string
  readonly languages: ReadonlyArray<string>
}

/** The first is what any other text is. */
const kinds: readonly [Kind, ...ReadonlyArray<Kind>] = [
  { type: "text/plain", extension: "txt", languages: [] },
  { type: "text/html", extension: "html", languages: ["html", "htm"] },
  { type: "image/svg+xml", extension: "svg", languages: ["svg"] },
  { type: "text/markdown", extension: "md", languages: ["markdown", "md"] },
  { type: "text/csv", extension: "csv", languages: ["csv"] },
  { type: "application/json", extension: "json", languages: ["json"] },
  { type: "text/css", extension: "css", languages: ["css"] },
  { type: "text/javascript", extension: "js", languages: ["javascript", "js", "mjs"] },
  { type: "text/x-python", extension: "py", languages: ["python", "py"] }
]

export const mediaTypes: ReadonlyArray<string> = kinds.map(({ type }) => type)

/** A name to begin with. */
export const nameOf = ({ language }: Part): string => {
  const lower = language.toLowerCase()
  const known = kinds.find(({ languages }) => languages.includes(lower))
  // source text in other languages is text under the ending of its language
  const extension = known?.extension ?? (/^[a-z0-9]{1,10}$/.test(lower) ? lower : kinds[0].extension)
  return `${known?.type === "text/html" ? "index" : known?.type === "text/markdown" ? "answer" : "code"}.${extension}`
}

/** By the ending of a name. */
export const mediaTypeOf = (name: string): string => {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""
  return (kinds.find(({ extension, languages }) => extension === ending || languages.includes(ending)) ?? kinds[0]).type
}
