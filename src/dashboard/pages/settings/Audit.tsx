import { Code, Stack, Text } from "@mantine/core"
import { useInfiniteQuery } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import type { Records } from "../../api/client.ts"
import { audit } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { dateTime, time } from "../../parts/format.ts"

type Row = Records["AuditRowOut"]

/** Every change of the account, chained by hashes. */
const Audit = () => {
  const list = useInfiniteQuery(audit)
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  const [open, setOpen] = useState<Row>()
  return (
    <>
      <Loaded query={list} height={320}>
        {() =>
          rows.length === 0 ? (
            <Empty title="No changes yet" />
          ) : (
            <DataTable
              label="Audit"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              activeKey={open?.id}
              onOpen={setOpen}
              list={list}
            />
          )
        }
      </Loaded>
      {open === undefined ? null : (
        <Drawer opened onClose={() => setOpen(undefined)} title={open.action} size="lg">
          <Stack>
            <Text size="sm">
              {dateTime(open.at)} · by {actorOf(open)}
              {open.address === null ? "" : ` from ${open.address}`} · row {open.position}
            </Text>
            <State title="Before" of={open.before} />
            <State title="After" of={open.after} />
            <Text size="xs" c="dimmed" className="mono" style={{ overflowWrap: "anywhere" }}>
              {open.hash}
            </Text>
            {open.request_id === null ? null : <CopyText label="Request id" text={open.request_id} />}
          </Stack>
        </Drawer>
      )}
    </>
  )
}

const State = ({ of, title }: { readonly title: string; readonly of: unknown }) =>
  of === null ? null : (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Code block fz="xs" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {JSON.stringify(of, null, 2)}
      </Code>
    </div>
  )

const actorOf = ({ actor_name, actor_user_id }: Row): string => actor_name ?? actor_user_id ?? "the gateway"

const columns: ReadonlyArray<Column<Row>> = [
  { id: "at", header: "At", width: "8.5rem", cell: ({ at }) => time(at) },
  { id: "action", header: "What", width: "minmax(8rem, 1fr)", cell: ({ action }) => action },
  {
    id: "target",
    header: "Of",
    from: "sm",
    cell: ({ target_id, target_kind }) => `${target_kind} …${target_id.slice(-8)}`
  },
  { id: "by", header: "By", from: "sm", cell: actorOf },
  { id: "from", header: "From", width: "9rem", from: "md", cell: ({ address }) => address ?? "—" }
]

export default Audit
