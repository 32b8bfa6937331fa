import { useState } from "react"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"
import { UserButton } from "./UserButton.tsx"

const load = () => import("./UserMenuItems.tsx")
const UserMenuItems = loadedWhenShown(load)
/** Where it fails, the menu says so when it is asked for. */
const prepare = () => void load().catch(() => undefined)

/** The button; its menu is loaded when a user is about to press it. */
export const UserMenu = () => {
  const [isAsked, ask] = useState(false)
  const button = (
    <UserButton
      aria-haspopup="menu"
      // pressed, it is another button, which keeps the focus: a page that comes meanwhile would take it
      autoFocus={isAsked}
      onMouseEnter={prepare}
      onFocus={prepare}
      onClick={() => ask(true)}
    />
  )
  return isAsked ? <UserMenuItems fallback={button} onClose={() => ask(false)} /> : button
}
