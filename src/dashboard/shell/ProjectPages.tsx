import { useQuery } from "@tanstack/react-query"
import { Outlet, useParams } from "@tanstack/react-router"
import { ApiFailure } from "../api/failure.ts"
import { project, projects } from "../api/queries.ts"
import { Waiting } from "../parts/Block.tsx"
import { Failure } from "../parts/Failure.tsx"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"

const NoAccess = loadedWhenShown(() => import("./NoAccess.tsx"))

/** The pages of a project. A link may lead to one that a person may not see, and so may the page where another one has signed out. */
export const ProjectPages = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId" })
  const known = useQuery(projects).data
  const isListed = known === undefined || known.some(({ id }) => id === projectId)
  // one that was shared a moment ago is not in the list yet
  const { data, error, refetch } = useQuery({ ...project(projectId), enabled: !isListed })
  if (isListed) return <Outlet />
  if (error instanceof ApiFailure && error.status === 404) return <NoAccess />
  if (data !== undefined) return <Outlet />
  // its pages would ask for it as soon as they are shown, and be taken away while the answer is awaited
  return error === null ? <Waiting height={400} /> : <Failure error={error} retry={refetch} />
}
