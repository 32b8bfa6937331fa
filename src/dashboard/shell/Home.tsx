import { useQuery } from "@tanstack/react-query"
import { Navigate, useRouterState } from "@tanstack/react-router"
import { projects } from "../api/queries.ts"
import { Loaded, Waiting } from "../parts/Block.tsx"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"
import { useProjectId } from "./project.ts"

const FirstProject = loadedWhenShown(() => import("./FirstProject.tsx"))

/** Leads to the overview of a project, unless the person has already gone elsewhere: this stays until that page is loaded. */
export const Home = () => {
  const projectId = useProjectId()
  const isHere = useRouterState({ select: ({ location }) => location.pathname === "/" })
  return (
    <Loaded query={useQuery(projects)} height={400}>
      {(known) =>
        known.length === 0 ? (
          <FirstProject />
        ) : projectId === undefined ? (
          <Waiting height={400} />
        ) : (
          isHere && <Navigate to="/p/$projectId" params={{ projectId }} replace />
        )
      }
    </Loaded>
  )
}
