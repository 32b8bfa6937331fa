import { useInfiniteQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import type { Records } from "../../api/client.ts"
import { refusals } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { keyName, time } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"

const RefusalDrawer = loadedWhenShown(() => import("./RefusalDrawer.tsx"))

interface RefusalListProps {
  readonly projectId: string
  readonly openId: string | undefined
  readonly onOpen: (id: string) => void
  readonly onClose: () => void
}

/** Requests that never became a call: no money, no eligible model, or too many at once. */
export const RefusalList = ({ onClose, onOpen, openId, projectId }: RefusalListProps) => {
  const list = useInfiniteQuery(refusals(projectId))
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  return (
    <>
      <Loaded query={list} height={300}>
        {() =>
          rows.length === 0 ? (
            <Empty title="Nothing was refused">
              Requests that are refused with 402, 404 or 429 appear here, the last 1,000.
            </Empty>
          ) : (
            <DataTable
              label="Refused requests"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              activeKey={openId}
              onOpen={({ id }) => onOpen(id)}
              list={list}
            />
          )
        }
      </Loaded>
      {openId === undefined || list.data === undefined ? null : (
        <RefusalDrawer
          key={openId}
          projectId={projectId}
          id={openId}
          listed={rows.find(({ id }) => id === openId)}
          onClose={onClose}
        />
      )}
    </>
  )
}

const columns: ReadonlyArray<Column<Records["RefusalOut"]>> = [
  { id: "time", header: "At", width: "6rem", cell: ({ refused_at }) => time(refused_at) },
  { id: "status", header: "Status", width: "3rem", cell: ({ status }) => status },
  { id: "code", header: "Code", width: "minmax(8rem, 1fr)", cell: ({ code }) => <span className="mono">{code}</span> },
  { id: "model", header: "Requested", from: "sm", cell: ({ requested_model }) => requested_model },
  { id: "key", header: "Key", from: "md", cell: keyName },
  { id: "scope", header: "Scope", width: "6rem", from: "md", cell: ({ scope }) => scope ?? "—" }
]
