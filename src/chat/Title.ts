const maxCharacters = 60

/** The beginning of a question, ended at a word: no model is asked for a title. */
export const titleOf = (question: string): string => {
  const line = question.replace(/\s+/gu, " ").trim()
  const characters = [...line]
  if (characters.length <= maxCharacters) return line
  const cut = characters.slice(0, maxCharacters + 1).join("")
  const space = cut.lastIndexOf(" ")
  return `${(space > 0 ? cut.slice(0, space) : characters.slice(0, maxCharacters).join("")).trimEnd()}…`
}
