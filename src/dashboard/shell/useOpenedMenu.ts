import { useLayoutEffect, useRef, useState } from "react"

/**
 * A menu whose button was pressed before its code had come: it opens as soon as it is there, from a button that has the focus
 * and gets it back.
 */
export const useOpenedMenu = () => {
  const target = useRef<HTMLButtonElement>(null)
  const [opened, setOpened] = useState(false)
  // before what has come with it, or comes next, can take the focus
  useLayoutEffect(() => {
    // the pressed button has gone with its focus; whoever went on to something else meanwhile stays there
    if (document.activeElement !== document.body) return
    target.current?.focus()
    setOpened(true)
  }, [])
  return { target, menu: { opened, onChange: setOpened } }
}
