import { useState } from "react"

/** Text that a person has typed and not sent: it outlives a reload and a sign-in in between. */
export const useDraft = (
  name: string,
  initial: string
): readonly [value: string, set: (value: string) => void, forget: () => void] => {
  const key = `gateway.draft.${name}`
  const [value, setValue] = useState(() => sessionStorage.getItem(key) ?? initial)
  const set = (next: string) => {
    sessionStorage.setItem(key, next)
    setValue(next)
  }
  return [value, set, () => sessionStorage.removeItem(key)]
}
