import { SimpleGrid } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { policy } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { Page } from "../../parts/Page.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useRole } from "../../shell/project.ts"
import { PolicyEditor } from "./PolicyEditor.tsx"

/** What the keys of a project may use. */
const Policy = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/policy" })
  const query = useQuery(policy(projectId))
  const { mayWrite } = useRole(projectId)
  return (
    <Page title="Policy" lead="What the keys of this project may use. The effect is shown before anything is saved.">
      <ViewerNote projectId={projectId} />
      <SimpleGrid cols={1}>
        <Loaded query={query} height={520}>
          {(found) => <PolicyEditor key={projectId} projectId={projectId} latest={found} mayWrite={mayWrite} />}
        </Loaded>
      </SimpleGrid>
    </Page>
  )
}

export default Policy
