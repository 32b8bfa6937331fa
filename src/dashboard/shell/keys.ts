import { useEffect, useRef } from "react"

const storageKey = "gateway.single-keys"

/** People who dictate switch keys without a modifier off (WCAG 2.1.4). */
export const singleKeysAreOn = (): boolean => localStorage.getItem(storageKey) !== "off"
export const setSingleKeys = (areOn: boolean): void => localStorage.setItem(storageKey, areOn ? "on" : "off")

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** What is between the two keys of `g k` at most. */
const sequenceMillis = 1_000

let last: KeyboardEvent | undefined
let beforeLast: KeyboardEvent | undefined

/** The key before this one, whichever listener hears of it first. */
const keyBefore = (event: KeyboardEvent): KeyboardEvent | undefined => {
  if (last !== event) {
    beforeLast = last
    last = event
  }
  return beforeLast
}

/**
 * Keys without a modifier, such as `c` or `g k`. None fires in a field, in a dialog, or on a button where Enter has a meaning of
 * its own.
 */
export const useKeys = (bindings: Readonly<Record<string, () => void>>): void => {
  const current = useRef(bindings)
  current.current = bindings
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (isField(event.target) || !singleKeysAreOn() || document.querySelector("[role=dialog]") !== null) return
      if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.closest("a,button,[role=row]"))
        return
      const first = keyBefore(event)
      const isSecond = first?.key === "g" && event.timeStamp - first.timeStamp < sequenceMillis
      const name = isSecond ? `g ${event.key}` : event.key
      const run = current.current[name]
      if (run === undefined) return
      event.preventDefault()
      run()
    }
    window.addEventListener("keydown", pressed)
    return () => window.removeEventListener("keydown", pressed)
  }, [])
}
