import { Drawer as DrawerOfMantine, type DrawerProps, Modal as ModalOfMantine, type ModalProps } from "@mantine/core"
import { useEffect, useLayoutEffect, useState } from "react"
import { leaveFocus } from "./leaveFocus.ts"

interface ModalOfPageProps extends ModalProps {
  /** While what was asked for in it is on its way: it stays open, for the answer or the error. */
  readonly isBusy?: boolean
}

/**
 * A dialog that is in the page only while it is open. It gives the focus back to what had it before: Mantine does so where `opened`
 * changes, and a dialog that is taken out of the page has no time for it.
 */
export const Modal = ({ isBusy = false, onClose, ...props }: ModalOfPageProps) => {
  useFocusBack()
  return <ModalOfMantine {...props} onClose={useInFront(() => isBusy || onClose())} />
}

/** As `Modal`. */
export const Drawer = (props: DrawerProps) => {
  useFocusBack()
  return <DrawerOfMantine {...props} onClose={useInFront(props.onClose)} />
}

/** The open dialogs, the one in front last. */
const dialogs: Array<symbol> = []

/** What the dialog in front was told, also while it is busy and stays open. */
const taken = new WeakSet<Event>()

/** Every open dialog listens to Escape, of which only the one in front is closed: it may have gone when the one behind it is told. */
const useInFront = (onClose: () => unknown): (() => void) => {
  const [id] = useState(() => Symbol())
  useLayoutEffect(() => {
    dialogs.push(id)
    return () => void dialogs.splice(dialogs.indexOf(id), 1)
  }, [id])
  return () => {
    const { event } = window
    if (dialogs.at(-1) !== id || (event !== undefined && taken.has(event))) return
    if (event !== undefined) taken.add(event)
    onClose()
  }
}

/** What had the focus before the first of the dialogs that are open, or follow each other. */
let opener: Element | null = null

const focused = (): Element | null => {
  const at = document.activeElement
  // a button that is disabled while it sends a form leaves the focus to the body, also in a dialog
  if (dialogs.length === 0) opener = at
  return at
}

const useFocusBack = (): void => {
  // a field with `autoFocus` takes the focus before any effect runs
  const [before] = useState(focused)
  useEffect(
    () => () => {
      const there = [before, opener].find((one) => one?.isConnected && one !== document.body)
      if (!(there instanceof HTMLElement)) return
      there.focus({ preventScroll: true })
      // what was done in the dialog may have disabled the button that opened it
      if (document.activeElement !== there) leaveFocus(there)
    },
    [before]
  )
}
