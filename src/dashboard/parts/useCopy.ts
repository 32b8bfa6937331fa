import { useTimeout } from "@mantine/hooks"
import { useState } from "react"

const shownMillis = 2_000

/** Browsers give pages over plain http, except on the own machine, no other access to the clipboard. */
const copiedFromField = (text: string): boolean => {
  const before = document.activeElement
  const field = document.createElement("textarea")
  field.value = text
  field.readOnly = true
  field.style.position = "fixed"
  field.style.opacity = "0"
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  return isCopied
}

const written = (text: string): Promise<boolean> =>
  isSecureContext
    ? navigator.clipboard.writeText(text).then(
        () => true,
        () => false
      )
    : Promise.resolve(copiedFromField(text))

/** Copies a text; for a moment the label says whether it did. */
export const useCopy = (label: string, text: string) => {
  const [said, say] = useState<string>()
  const { start } = useTimeout(() => say(undefined), shownMillis)
  const copy = async () => {
    say((await written(text)) ? "Copied" : "Not copied")
    start()
  }
  return { label: said ?? label, isCopied: said === "Copied", copy: () => void copy() }
}
