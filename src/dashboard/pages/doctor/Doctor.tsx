import { Button, Tabs } from "@mantine/core"
import { PlusIcon } from "@primer/octicons-react"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { Block } from "../../parts/Block.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useKeys } from "../../shell/keys.ts"
import { useRole } from "../../shell/project.ts"
import { AnalysisList } from "./AnalysisList.tsx"
import { Collection } from "./Collection.tsx"

const NewAnalysis = loadedWhenShown(() => import("./NewAnalysis.tsx"))
const SampleList = loadedWhenShown(() => import("./SampleList.tsx"))

/** What a project collects of its calls, and what analyses say that it wastes. */
const Doctor = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/analyses" })
  const { block, new: isNew, sample, tab } = useSearch({ from: "/shell/p/$projectId/analyses" })
  const navigate = useNavigate({ from: "/p/$projectId/analyses" })
  const { mayWrite } = useRole(projectId)
  const begin = () => void navigate({ search: { new: "1" } })
  useKeys(mayWrite ? { c: begin } : {})
  return (
    <Page
      title="Token doctor"
      lead="Avoidable cost, computed from calls that opted in. An analysis calls no model."
      actions={
        <Button leftSection={<PlusIcon />} disabled={!mayWrite} onClick={begin}>
          New analysis
        </Button>
      }
    >
      <ViewerNote projectId={projectId} />
      <Block title="Collection">
        <Collection projectId={projectId} mayWrite={mayWrite} />
      </Block>
      <Tabs
        value={tab ?? "analyses"}
        keepMounted={false}
        onChange={(value) => void navigate({ search: value === "samples" ? { tab: value } : {} })}
      >
        <Tabs.List aria-label="Token doctor">
          <Tabs.Tab value="analyses">Analyses</Tabs.Tab>
          <Tabs.Tab value="samples">Samples</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="analyses" pt="sm">
          <Block>
            <AnalysisList projectId={projectId} />
          </Block>
        </Tabs.Panel>
        <Tabs.Panel value="samples" pt="sm">
          <Block>
            <SampleList projectId={projectId} mayWrite={mayWrite} openId={sample} block={block} />
          </Block>
        </Tabs.Panel>
      </Tabs>
      {mayWrite && isNew === "1" ? (
        <NewAnalysis projectId={projectId} onClose={() => void navigate({ search: {} })} />
      ) : null}
    </Page>
  )
}

export default Doctor
