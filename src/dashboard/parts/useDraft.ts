import { useQuery } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { me } from "../api/queries.ts"
import { keep, kept, keptNames } from "./personStorage.ts"

const prefix = "draft."

export const hasDraft = (): boolean => keptNames().some((name) => name.startsWith(prefix) && kept(name)?.trim() !== "")

/** What a person has written after a text that was sent; all of it where that was changed meanwhile. */
const restOf = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text

const keepText = (name: string, text: string): void => keep(prefix + name, text === "" ? null : text)

export const draftOf = (name: string): string => kept(prefix + name) ?? ""

/** What was written after a text that was sent goes on in another field; `false` where the text is another one. */
export const moveRest = (sent: string, from: string, to: string): boolean => {
  const text = draftOf(from)
  if (!text.startsWith(sent)) return false
  keepText(from, "")
  keepText(to, restOf(text, sent))
  return true
}

interface Draft {
  readonly text: string
  readonly set: (text: string) => void
  readonly forget: () => void
  /** Leaves what was written while it was sent. */
  readonly taken: (sent: string) => void
}

/** Text that a person has typed and not sent: it outlives a reload and a sign-in in between, of the same person. */
export const useDraft = (name: string, initial: string): Draft => {
  const person = useQuery(me).data?.user.id
  const [typed, setTyped] = useState<string>()
  const writer = useRef<string>(undefined)
  useEffect(() => {
    if (person === undefined) return
    // what was typed before it was known whose it is follows what was kept, which the field has not shown
    const before = writer.current === undefined ? draftOf(name) : ""
    writer.current ??= person
    if (typed === undefined) return
    if (before !== "") setTyped(`${before}\n${typed}`)
    // another person may have signed in in a second tab
    else if (person === writer.current) keep(prefix + name, typed)
  }, [name, person, typed])
  return {
    text: typed ?? kept(prefix + name) ?? initial,
    set: setTyped,
    forget: () => keep(prefix + name, null),
    taken: (sent) => {
      // as it is now: this may be called long after the field was shown with the text that was sent
      const rest = restOf(draftOf(name), sent)
      keepText(name, rest)
      setTyped(rest)
    }
  }
}
