import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { me, projects } from "../api/queries.ts"

const storageKey = "gateway.project"

export const rememberProject = (id: string): void => localStorage.setItem(storageKey, id)

/** The project of the page; on a page without one the last that was open, else the default one. */
export const useProjectId = (): string | undefined => {
  const { projectId } = useParams({ strict: false })
  const known = useQuery(projects).data?.items
  const fallback = useQuery(me).data?.default_project_id
  if (projectId !== undefined) return projectId
  const stored = localStorage.getItem(storageKey)
  return (
    known?.find(({ id }) => id === stored)?.id ??
    known?.find(({ id }) => id === fallback)?.id ??
    known?.[0]?.id ??
    undefined
  )
}

/** What the signed-in person may change in this project. */
export const useRole = (projectId: string | undefined) => {
  const role = useQuery(projects).data?.items.find(({ id }) => id === projectId)?.role
  return { role, mayWrite: role === "owner" || role === "member", isOwner: role === "owner" }
}
