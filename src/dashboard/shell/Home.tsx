import { useQuery } from "@tanstack/react-query"
import { Navigate } from "@tanstack/react-router"
import { projects } from "../api/queries.ts"
import { Loaded } from "../parts/Block.tsx"
import { Empty } from "../parts/Empty.tsx"
import { useProjectId } from "./project.ts"

/** Leads to the overview of a project. */
export const Home = () => {
  const projectId = useProjectId()
  return (
    <Loaded query={useQuery(projects)} height={400}>
      {({ items }) =>
        projectId === undefined || items.length === 0 ? (
          <Empty title="You have no project yet">
            Create one in the menu at the top left; keys and calls belong to a project.
          </Empty>
        ) : (
          <Navigate to="/p/$projectId" params={{ projectId }} replace />
        )
      }
    </Loaded>
  )
}
