import { Tabs } from "@mantine/core"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Block, Waiting } from "../../parts/Block.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { useIsProjectKnown, useProjectId } from "../../shell/project.ts"
import { Members } from "./Members.tsx"
import { ProjectSettings } from "./ProjectSettings.tsx"
import { Sessions } from "./Sessions.tsx"

// with the code of long lists
const Audit = loadedWhenShown(() => import("./Audit.tsx"))

const tabs = ["project", "members", "sessions", "audit"] as const

/** The project that is chosen at the top, and the person who is signed in. */
const Settings = () => {
  const { tab = "project" } = useSearch({ from: "/shell/settings" })
  const navigate = useNavigate({ from: "/settings" })
  const projectId = useProjectId()
  const none = useIsProjectKnown() ? (
    <Empty title="There is no project">Create one in the menu at the top left.</Empty>
  ) : (
    <Waiting height={200} />
  )
  return (
    <Page title="Settings">
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) => {
          const next = tabs.find((each) => each === value)
          void navigate({ search: next === undefined || next === "project" ? {} : { tab: next } })
        }}
      >
        <Tabs.List aria-label="Settings">
          <Tabs.Tab value="project">Project</Tabs.Tab>
          <Tabs.Tab value="members">Members</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="audit">Audit</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="project" pt="sm">
          {projectId === undefined ? none : <ProjectSettings key={projectId} projectId={projectId} />}
        </Tabs.Panel>
        <Tabs.Panel value="members" pt="sm">
          <Block>{projectId === undefined ? none : <Members key={projectId} projectId={projectId} />}</Block>
        </Tabs.Panel>
        <Tabs.Panel value="sessions" pt="sm">
          <Sessions />
        </Tabs.Panel>
        <Tabs.Panel value="audit" pt="sm">
          <Block>
            <Audit fallback={<Waiting height={200} />} />
          </Block>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

export default Settings
