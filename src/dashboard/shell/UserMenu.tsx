import { lazy, Suspense, useState } from "react"
import { UserButton } from "./UserButton.tsx"

const load = () => import("./UserMenuItems.tsx")
const UserMenuItems = lazy(load)

/** The button; its menu is loaded when a user is about to press it. */
export const UserMenu = () => {
  const [isAsked, ask] = useState(false)
  const button = <UserButton aria-haspopup="menu" onMouseEnter={load} onFocus={load} onClick={() => ask(true)} />
  return isAsked ? (
    <Suspense fallback={button}>
      <UserMenuItems />
    </Suspense>
  ) : (
    button
  )
}
