import { useState } from "react"

const prefix = "gateway.draft."
const keyOf = (name: string): string => `${prefix}${name}`

const draftKeys = (): ReadonlyArray<string> => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix))

export const hasDraft = (): boolean => draftKeys().some((key) => sessionStorage.getItem(key)?.trim() !== "")

/** The next person in this tab must not read them. */
export const forgetDrafts = (): void => {
  for (const key of draftKeys()) sessionStorage.removeItem(key)
}

/** What a person has written after a text that was sent; all of it where that was changed meanwhile. */
const restOf = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text

const keep = (name: string, text: string): void =>
  text === "" ? sessionStorage.removeItem(keyOf(name)) : sessionStorage.setItem(keyOf(name), text)

/** What was written after a text that was sent goes on in another field. */
export const moveRest = (sent: string, from: string, to: string): void => {
  const text = sessionStorage.getItem(keyOf(from)) ?? ""
  if (!text.startsWith(sent)) return
  keep(from, "")
  keep(to, restOf(text, sent))
}

interface Draft {
  readonly text: string
  readonly set: (text: string) => void
  readonly forget: () => void
  /** Leaves what was written while it was sent. */
  readonly taken: (sent: string) => void
}

/** Text that a person has typed and not sent: it outlives a reload and a sign-in in between. */
export const useDraft = (name: string, initial: string): Draft => {
  const [text, setText] = useState(() => sessionStorage.getItem(keyOf(name)) ?? initial)
  const set = (next: string) => {
    sessionStorage.setItem(keyOf(name), next)
    setText(next)
  }
  return {
    text,
    set,
    forget: () => sessionStorage.removeItem(keyOf(name)),
    taken: (sent) => {
      // as it is now: this may be called long after the field was shown with the text that was sent
      const rest = restOf(sessionStorage.getItem(keyOf(name)) ?? "", sent)
      keep(name, rest)
      setText(rest)
    }
  }
}
