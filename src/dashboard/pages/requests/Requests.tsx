import { Tabs } from "@mantine/core"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { Block } from "../../parts/Block.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { CallList } from "./CallList.tsx"
import { RefusalList } from "./RefusalList.tsx"
import { RunningList } from "./RunningList.tsx"

const RequestDrawer = loadedWhenShown(() => import("./RequestDrawer.tsx"))

/** What was called, what was refused, and what runs now. */
const Requests = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/requests" })
  const { request, tab } = useSearch({ from: "/shell/p/$projectId/requests" })
  const navigate = useNavigate({ from: "/p/$projectId/requests" })
  const open = (id: string) => void navigate({ search: (before) => ({ ...before, request: id }) })
  const close = () => void navigate({ search: ({ request: _, ...rest }) => rest })
  return (
    <Page title="Requests">
      <Tabs
        value={tab ?? "calls"}
        keepMounted={false}
        onChange={(value) =>
          void navigate({
            search: ({ request: _, tab: __, ...filters }) =>
              value === "refused" || value === "running" ? { ...filters, tab: value } : filters
          })
        }
      >
        <Tabs.List aria-label="Kind of request">
          <Tabs.Tab value="calls">Calls</Tabs.Tab>
          <Tabs.Tab value="refused">Refused</Tabs.Tab>
          <Tabs.Tab value="running">In flight</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="calls" pt="sm">
          <Block>
            <CallList projectId={projectId} onOpen={open} />
          </Block>
        </Tabs.Panel>
        <Tabs.Panel value="refused" pt="sm">
          <Block>
            <RefusalList projectId={projectId} openId={request} onOpen={open} onClose={close} />
          </Block>
        </Tabs.Panel>
        <Tabs.Panel value="running" pt="sm">
          <Block>
            <RunningList projectId={projectId} />
          </Block>
        </Tabs.Panel>
      </Tabs>
      {request === undefined || tab !== undefined ? null : <RequestDrawer requestId={request} onClose={close} />}
    </Page>
  )
}

export default Requests
