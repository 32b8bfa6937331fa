import { Button, Group, Pagination, Progress, Text } from "@mantine/core"
import { PlusIcon } from "@primer/octicons-react"
import { useQuery } from "@tanstack/react-query"
import { Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { Records } from "../../api/client.ts"
import { activity, keys } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { count, money, relative } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { Status } from "../../parts/Status.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useKeys } from "../../shell/keys.ts"
import { useRole } from "../../shell/project.ts"
import { stateOf } from "./state.ts"

const CreateKey = loadedWhenShown(() => import("./CreateKey.tsx"))
const KeyDrawer = loadedWhenShown(() => import("./KeyDrawer.tsx"))

type Key = Records["ApiKeyOut"]

const Keys = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/keys" })
  const search = useSearch({ from: "/shell/p/$projectId/keys" })
  const navigate = useNavigate({ from: "/p/$projectId/keys" })
  const page = search.page ?? 1
  const query = useQuery(keys(projectId, page))
  const today = useQuery({ ...activity(projectId, 1, "hour"), enabled: query.data !== undefined }).data
  const { mayWrite } = useRole(projectId)
  const create = () => void navigate({ search: (before) => ({ ...before, new: "1" as const }) })
  const close = () => void navigate({ search: ({ key, new: _, ...rest }) => rest })
  useKeys(mayWrite ? { c: create } : {})

  return (
    <Page
      title="Keys"
      lead="A program calls with a key of this project. A key can have a limit of its own."
      actions={
        <Button
          leftSection={<PlusIcon />}
          onClick={create}
          disabled={!mayWrite}
          title={mayWrite ? "c" : "Viewers cannot create keys"}
        >
          Create key
        </Button>
      }
    >
      <ViewerNote projectId={projectId} />
      <Block>
        <Loaded query={query} height={320}>
          {({ items, limit, total }) =>
            total === 0 ? (
              <Empty title="This project has no key yet">
                <Text size="sm" c="dimmed">
                  Create one, and send it as <span className="mono">Authorization: Bearer …</span> with every call.
                </Text>
                <Button onClick={create} disabled={!mayWrite}>
                  Create key
                </Button>
              </Empty>
            ) : (
              <>
                <DataTable
                  label="Keys of this project"
                  columns={columnsWith(today?.by_key)}
                  rows={items}
                  keyOf={({ id }) => id}
                  activeKey={search.key}
                  onOpen={({ id }) => void navigate({ search: (before) => ({ ...before, key: id }) })}
                />
                {/* the last key of the last page was deleted, or the address is of more keys */}
                {page > Math.ceil(total / limit) ? (
                  <Navigate
                    from="/p/$projectId/keys"
                    search={(before) => ({ ...before, page: Math.ceil(total / limit) })}
                    replace
                  />
                ) : null}
                {total <= limit ? null : (
                  <Pagination
                    value={page}
                    total={Math.ceil(total / limit)}
                    onChange={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
                    getControlProps={(control) => ({ "aria-label": `${control} page` })}
                    getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
                  />
                )}
              </>
            )
          }
        </Loaded>
      </Block>
      {mayWrite && search.new === "1" ? <CreateKey projectId={projectId} onClose={close} /> : null}
      {search.key === undefined ? null : (
        <KeyDrawer key={search.key} keyId={search.key} mayWrite={mayWrite} onClose={close} />
      )}
    </Page>
  )
}

/** How often they were called is known later than they are. */
const columnsWith = (calls: Records["ActivityDataOut"]["by_key"] | undefined): ReadonlyArray<Column<Key>> => [
  { id: "name", header: "Name", width: "minmax(4.5rem, 1.4fr)", cell: ({ name }) => name },
  {
    id: "key",
    header: "Key",
    width: "10rem",
    from: "md",
    cell: ({ key_prefix, kind }) => (kind === "dashboard" ? "—" : <span className="mono">{key_prefix}…</span>)
  },
  { id: "spent", header: "Spent of limit", width: "minmax(7rem, 1fr)", cell: (key) => <Spent {...key} /> },
  {
    id: "calls",
    header: "Calls today",
    width: "6rem",
    align: "right",
    from: "sm",
    cell: ({ id }) => (calls === undefined ? "" : count(calls.find(({ key_id }) => key_id === id)?.count ?? 0))
  },
  {
    id: "used",
    header: "Last used",
    width: "7rem",
    from: "sm",
    cell: ({ last_used_at }) => (last_used_at === null ? "—" : relative(last_used_at))
  },
  { id: "created", header: "Created", width: "7rem", from: "lg", cell: ({ created_at }) => relative(created_at) },
  { id: "state", header: "State", width: "5.5rem", cell: (key) => <Status state={stateOf(key)} /> }
]

const Spent = ({ limit_reset, spend_limit_microusd: limit, spent_microusd: spent }: Key) =>
  limit === null ? (
    <Group gap="0 0.375rem" className="figures">
      <Text size="sm" span>
        {money(spent)}
      </Text>
      <Text span c="dimmed" size="xs">
        no limit
      </Text>
    </Group>
  ) : (
    <Group gap="0 0.375rem" className="figures">
      <Text size="sm" span>
        {money(spent)}
      </Text>
      <Progress
        value={limit === 0 ? 100 : (100 * spent) / limit}
        w={50}
        visibleFrom="xs"
        color={spent >= limit ? "red" : "indigo"}
        aria-hidden="true"
      />
      <Text size="sm" span>
        <Text span hiddenFrom="xs" inherit>
          of{" "}
        </Text>
        {money(limit)}
        {limit_reset === null ? "" : ` a ${limit_reset}`}
      </Text>
    </Group>
  )

export default Keys
