import { VisuallyHidden } from "@mantine/core"
import { useInfiniteQuery } from "@tanstack/react-query"
import type { Records } from "../../api/client.ts"
import { running } from "../../api/queries.ts"
import { Ago } from "../../parts/Ago.tsx"
import { Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { keyName, money } from "../../parts/format.ts"
import { StopCall } from "../../parts/StopCall.tsx"
import { useRole } from "../../shell/project.ts"

/** Calls that have begun and not ended, with what they hold. */
export const RunningList = ({ projectId }: { readonly projectId: string }) => {
  const list = useInfiniteQuery(running(projectId))
  const { mayWrite } = useRole(projectId)
  const columns: ReadonlyArray<Column<Records["InFlightOut"]>> = [
    { id: "started", header: "Started", width: "7rem", from: "sm", cell: ({ started_at }) => <Ago of={started_at} /> },
    { id: "model", header: "Requested", cell: ({ requested_model }) => requested_model },
    { id: "key", header: "Key", from: "sm", cell: keyName },
    {
      id: "paid",
      header: "Paid by",
      from: "md",
      cell: (call) => (call.billing_mode === "byok" ? "own credential" : "balance")
    },
    { id: "held", header: "Held", width: "6rem", align: "right", cell: (call) => money(call.held_microusd) },
    ...(mayWrite
      ? [
          {
            id: "stop",
            header: <VisuallyHidden>Stop</VisuallyHidden>,
            width: "5rem",
            align: "right" as const,
            cell: (call: Records["InFlightOut"]) => <StopCall projectId={projectId} call={call} />
          }
        ]
      : [])
  ]
  return (
    <Loaded query={list} height={200}>
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items)
        return rows.length === 0 ? (
          <Empty title="No call is running">
            What a call may cost is held when it begins, and settled when it ends.
          </Empty>
        ) : (
          <DataTable label="Calls in flight" columns={columns} rows={rows} keyOf={({ id }) => id} list={list} />
        )
      }}
    </Loaded>
  )
}
