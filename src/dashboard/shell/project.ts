import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { Records } from "../api/client.ts"
import { me, project, projects } from "../api/queries.ts"

const storageKey = "gateway.project"

/** Of the tab, which keeps its project whatever others show; a new tab begins with the last of all. */
const rememberedProject = (): string | null => sessionStorage.getItem(storageKey) ?? localStorage.getItem(storageKey)
export const rememberProject = (id: string): void => {
  for (const storage of [sessionStorage, localStorage]) storage.setItem(storageKey, id)
}

/** The project of the page; on a page without one the last that was open, else the default one, once it is known which that is. */
export const useProjectId = (): string | undefined => {
  const { projectId } = useParams({ strict: false })
  const known = useQuery(projects).data
  const person = useQuery(me)
  if (projectId !== undefined) return projectId
  const find = (wanted: string | null | undefined) => known?.find(({ id }) => id === wanted)?.id
  const stored = find(rememberedProject())
  if (stored !== undefined || person.isPending) return stored
  return find(person.data?.default_project_id) ?? known?.[0]?.id
}

/** Whether it is known which project that is: there may be none. */
export const useIsProjectKnown = (): boolean => {
  const areRead = [useQuery(projects), useQuery(me)].every(({ isPending }) => !isPending)
  return useProjectId() !== undefined || areRead
}

/** What the signed-in person may change in this project. */
export const useRole = (projectId: string | undefined) => {
  const role = useQuery(projects).data?.find(({ id }) => id === projectId)?.role
  return { role, mayWrite: role === "owner" || role === "member", isOwner: role === "owner" }
}

/** Whose balance pays for the calls of a project: the person's own, another user's, which is not shown, or none. */
export type Payer = "own" | "other" | "none"

export const payerOf = (
  of: Pick<Records["ProjectOut"], "account_id" | "billing_mode">,
  accounts: Records["MeOut"]["accounts"]
): Payer => (of.billing_mode === "byok" ? "none" : accounts.some(({ id }) => id === of.account_id) ? "own" : "other")

/** `undefined` until it is known. */
export const usePayer = (projectId: string): Payer | undefined => {
  const accounts = useQuery(me).data?.accounts
  const known = useQuery(projects).data
  const listed = known?.find(({ id }) => id === projectId)
  // one that was shared a moment ago is not in the list yet
  const read = useQuery({ ...project(projectId), enabled: known !== undefined && listed === undefined })
  const found = listed ?? read.data?.data
  return accounts === undefined || found === undefined ? undefined : payerOf(found, accounts)
}
