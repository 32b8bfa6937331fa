import { useState } from "react"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"
import { UserButton } from "./UserButton.tsx"

const load = () => import("./UserMenuItems.tsx")
const UserMenuItems = loadedWhenShown(load)

/** The button; its menu is loaded when a user is about to press it. */
export const UserMenu = () => {
  const [isAsked, ask] = useState(false)
  const button = <UserButton aria-haspopup="menu" onMouseEnter={load} onFocus={load} onClick={() => ask(true)} />
  return isAsked ? <UserMenuItems fallback={button} /> : button
}
