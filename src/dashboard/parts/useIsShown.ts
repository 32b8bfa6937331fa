import { useEffect, useRef } from "react"

/** Whether a component is still there: a person may have left it before what was asked for in it is answered. */
export const useIsShown = (): (() => boolean) => {
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  return () => isShown.current
}
