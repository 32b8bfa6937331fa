import { Group, Stack } from "@mantine/core"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { cost, short, time } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Status } from "../../parts/Status.tsx"
import { ExportSamples } from "./ExportSamples.tsx"
import { capture, type Sample, samples } from "./queries.ts"

const SampleDrawer = loadedWhenShown(() => import("./SampleDrawer.tsx"))

interface SampleListProps {
  readonly projectId: string
  readonly mayWrite: boolean
  readonly openId: string | undefined
  /** Of the prompt of that one, where something is to be seen. */
  readonly block: number | undefined
}

/** The calls that were collected, without their content. */
const SampleList = ({ block, mayWrite, openId, projectId }: SampleListProps) => {
  const list = useInfiniteQuery(samples(projectId))
  const isOn = useQuery(capture(projectId)).data?.enabled === true
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  const navigate = useNavigate({ from: "/p/$projectId/analyses" })
  return (
    <Loaded query={list} height={160}>
      {() => (
        <Stack gap="sm">
          {rows.length === 0 ? (
            <Empty title="Nothing is collected yet">
              A sample is one call with its prompt, its attempts and its cost.{" "}
              {isOn ? "Send" : "Switch the collection on, and send"} "token_doctor": true with the requests that may be
              collected.
            </Empty>
          ) : (
            <>
              <Group justify="flex-end">
                <ExportSamples projectId={projectId} />
              </Group>
              <DataTable
                label="Samples"
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                activeKey={openId}
                onOpen={({ id }) => void navigate({ search: { tab: "samples", sample: id } })}
                list={list}
              />
            </>
          )}
          {openId === undefined ? null : (
            <SampleDrawer
              key={openId}
              id={openId}
              block={block}
              projectId={projectId}
              mayWrite={mayWrite}
              onClose={() => void navigate({ search: { tab: "samples" } })}
            />
          )}
        </Stack>
      )}
    </Loaded>
  )
}

const tokensOf = ({ sample: { usage } }: Sample): string =>
  usage === null
    ? "—"
    : `${short(usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens)} → ${short(usage.output_tokens + usage.reasoning_tokens)}`

const columns: ReadonlyArray<Column<Sample>> = [
  { id: "at", header: "At", width: "6rem", cell: ({ sample }) => time(sample.captured_at) },
  { id: "model", header: "Requested", cell: ({ sample }) => sample.decision.requested_model },
  {
    id: "conversation",
    header: "Conversation",
    width: "7rem",
    from: "md",
    cell: ({ sample }) => <span className="mono">{sample.conversation.slice(0, 8)}</span>
  },
  { id: "tokens", header: "Tokens", width: "8rem", align: "right", from: "sm", cell: tokensOf },
  { id: "cost", header: "Cost", width: "6rem", align: "right", cell: ({ sample }) => cost(sample.cost) },
  { id: "state", header: "Status", width: "6.5rem", from: "sm", cell: ({ sample }) => <Status state={sample.status} /> }
]

export default SampleList
