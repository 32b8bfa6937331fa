import { useEffect, useRef } from "react"

/** Gives the focus to the first field that is wrong, when its form is sent and when the service refuses what was sent. */
export const useFocusInvalid = (error: unknown) => {
  const form = useRef<HTMLFormElement>(null)
  const focus = () => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each error
  useEffect(() => {
    if (error !== null) focus()
  }, [error])
  // what is wrong is shown once the event has ended
  return { ref: form, sent: () => void setTimeout(focus) }
}
