import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import type { Records } from "../../api/client.ts"
import { Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { count, dateTime, time } from "../../parts/format.ts"
import { analyses } from "./queries.ts"
import { StateOf } from "./StateOf.tsx"

/** The analyses of a project, newest first. */
export const AnalysisList = ({ projectId }: { readonly projectId: string }) => {
  const list = useInfiniteQuery(analyses(projectId))
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  const navigate = useNavigate()
  return (
    <Loaded query={list} height={160}>
      {() =>
        rows.length === 0 ? (
          <Empty title="No analysis yet">
            An analysis reads collected calls and computes their bills again without what they waste. Where nothing is
            collected it reads the log of calls, which has no prompts.
          </Empty>
        ) : (
          <DataTable
            label="Analyses"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            onOpen={({ id }) =>
              void navigate({ to: "/p/$projectId/analyses/$analysisId", params: { projectId, analysisId: id } })
            }
            list={list}
          />
        )
      }
    </Loaded>
  )
}

const columns: ReadonlyArray<Column<Records["AnalysisSummary"]>> = [
  { id: "at", header: "Requested at", width: "6.5rem", cell: ({ created_at }) => time(created_at) },
  { id: "state", header: "State", width: "9rem", cell: ({ status }) => <StateOf status={status} /> },
  {
    id: "range",
    header: "Calls from … to",
    from: "sm",
    cell: ({ range_end, range_start }) => `${dateTime(range_start)} – ${dateTime(range_end)}`
  },
  {
    id: "samples",
    header: "Calls read",
    width: "6rem",
    from: "sm",
    align: "right",
    cell: ({ sample_count }) => count(sample_count)
  }
]
