import { Button, Group, Stack, Text } from "@mantine/core"
import { PlusIcon } from "@primer/octicons-react"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { Records } from "../../api/client.ts"
import { routings } from "../../api/queries.ts"
import { Block, Loaded, Waiting } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { relative } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useKeys } from "../../shell/keys.ts"
import { useRole } from "../../shell/project.ts"
import { type Starter, starters } from "./starters.ts"

const AlphaCurve = loadedWhenShown(() => import("./AlphaCurve.tsx"))
const CreateRouting = loadedWhenShown(() => import("./CreateRouting.tsx"))

type Configuration = Records["RoutingConfigurationOut"]

const Routing = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/routing" })
  const { new: isNew } = useSearch({ from: "/shell/p/$projectId/routing" })
  const navigate = useNavigate({ from: "/p/$projectId/routing" })
  const query = useQuery(routings(projectId))
  const { mayWrite } = useRole(projectId)
  const [starter, setStarter] = useState<Starter>()
  const create = (from?: Starter) => {
    setStarter(from)
    void navigate({ search: { new: "1" } })
  }
  useKeys(mayWrite ? { c: () => create() } : {})
  return (
    <Page
      title="Routing"
      lead="A routing configuration narrows what auto may choose: programs send auto:<slug> as model."
      actions={
        <Button leftSection={<PlusIcon />} disabled={!mayWrite} onClick={() => create()}>
          Create configuration
        </Button>
      }
    >
      <ViewerNote projectId={projectId} />
      <Block>
        <Loaded query={query} height={240}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No routing configuration yet">
                <Stack align="center" gap="xs">
                  <Text size="sm" c="dimmed">
                    Start from one of these:
                  </Text>
                  <Group>
                    {starters.map((each) => (
                      <Button key={each.slug} variant="default" disabled={!mayWrite} onClick={() => create(each)}>
                        {each.name}
                      </Button>
                    ))}
                  </Group>
                </Stack>
              </Empty>
            ) : (
              <DataTable
                label="Routing configurations"
                columns={columns}
                rows={rows}
                keyOf={({ slug }) => slug}
                onOpen={({ slug }) => void navigate({ to: "/p/$projectId/routing/$slug", params: { projectId, slug } })}
              />
            )
          }
        </Loaded>
      </Block>
      <AlphaCurve fallback={<Waiting height={370} />} projectId={projectId} />
      {mayWrite && isNew === "1" ? (
        <CreateRouting projectId={projectId} starter={starter} onClose={() => void navigate({ search: {} })} />
      ) : null}
    </Page>
  )
}

const listed = (patterns: ReadonlyArray<string> | null | undefined): string =>
  patterns === null || patterns === undefined ? "all that the project allows" : patterns.join(", ") || "none"

const columns: ReadonlyArray<Column<Configuration>> = [
  {
    id: "slug",
    header: "Model to send",
    width: "minmax(6rem, 1fr)",
    cell: ({ slug }) => <span className="mono">auto:{slug}</span>
  },
  { id: "name", header: "Name", from: "md", cell: ({ name }) => name },
  { id: "models", header: "Models", from: "sm", cell: ({ models }) => listed(models) },
  { id: "alpha", header: "Alpha", width: "5rem", cell: ({ alpha }) => alpha ?? "as project" },
  {
    id: "version",
    header: "Version",
    width: "5.5rem",
    cell: (of) => (of.managed_by_configuration ? "from the file" : `v${of.active_version}`)
  },
  { id: "updated", header: "Changed", width: "7rem", from: "lg", cell: ({ updated_at }) => relative(updated_at) }
]

export default Routing
