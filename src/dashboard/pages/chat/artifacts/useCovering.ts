import { useMediaQuery } from "@mantine/hooks"
import { useEffect, useRef } from "react"

const messageOf = (panel: HTMLElement) => panel.parentElement?.querySelector<HTMLElement>("textarea")

/**
 * Where a panel covers what stands beside it, that cannot be reached, and the panel has the focus. When the panel goes, the focus goes
 * back to what had it before, or to the field of the next message.
 */
export const useCovering = (isLarge: boolean) => {
  const panel = useRef<HTMLElement>(null)
  const hasRoom = useMediaQuery("(min-width: 75em)", true, { getInitialValueInEffect: false })
  const isCovering = isLarge || !hasRoom
  useEffect(() => {
    const shown = panel.current
    if (!isCovering || shown === null) return
    const covered = [...(shown.parentElement?.children ?? [])].filter((each) => each !== shown)
    const before = document.activeElement
    for (const each of covered) each.toggleAttribute("inert", true)
    if (!shown.contains(before)) shown.focus()
    return () => {
      for (const each of covered) each.toggleAttribute("inert", false)
      if (before instanceof HTMLElement && before.isConnected && !shown.contains(before)) before.focus()
    }
  }, [isCovering])
  useEffect(() => {
    const beside = panel.current === null ? undefined : messageOf(panel.current)
    // the button that has closed it goes with it
    return () => {
      if (document.activeElement === document.body) beside?.focus()
    }
  }, [])
  return { panel, isCovering, hasRoom }
}
