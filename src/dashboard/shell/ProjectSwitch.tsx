import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { projects } from "../api/queries.ts"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"
import { ProjectButton } from "./ProjectButton.tsx"

const load = () => import("./ProjectMenu.tsx")
const ProjectMenu = loadedWhenShown(load)
/** Where it fails, the menu says so when it is asked for. */
const prepare = () => void load().catch(() => undefined)

/** Which project the pages show; its menu is loaded when a user is about to press the button. */
export const ProjectSwitch = ({ projectId }: { readonly projectId: string | undefined }) => {
  const { data } = useQuery(projects)
  const [isAsked, ask] = useState(false)
  const name = data?.find(({ id }) => id === projectId)?.name
  const button = (
    <ProjectButton
      name={name}
      aria-haspopup="menu"
      // pressed, it is another button, which keeps the focus: a page that comes meanwhile would take it
      autoFocus={isAsked}
      onMouseEnter={prepare}
      onFocus={prepare}
      onClick={() => ask(true)}
    />
  )
  return isAsked ? <ProjectMenu fallback={button} onClose={() => ask(false)} name={name} /> : button
}
