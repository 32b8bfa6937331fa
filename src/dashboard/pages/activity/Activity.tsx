import { SegmentedControl, SimpleGrid, Table, VisuallyHidden } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { Records } from "../../api/client.ts"
import { activity } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Chart } from "../../parts/Chart.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { count, money } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { Page } from "../../parts/Page.tsx"
import { dayOf, hourOf, timeOf } from "../../parts/points.ts"
import { WideTable } from "../../parts/WideTable.tsx"
import { type Days, days, rangeLabels } from "../../search.ts"

type Data = Records["ActivityDataOut"]
type By = "model" | "provider" | "key"

/** Calls and spend over time, and what they were for. */
const Activity = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/activity" })
  const { by = "model", days: range = 30 } = useSearch({ from: "/shell/p/$projectId/activity" })
  const navigate = useNavigate({ from: "/p/$projectId/activity" })
  const query = useQuery(activity(projectId, range, range === 1 ? "hour" : "day"))
  return (
    <Page
      title="Activity"
      lead="Totals of finished calls by day (UTC); they equal the ledger."
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Range"
          value={String(range)}
          data={days.map((each) => ({ value: String(each), label: rangeLabels[each] }))}
          onChange={(value) => void navigate({ search: (before) => ({ ...before, days: Number(value) as Days }) })}
        />
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Block title="Calls">
          <Loaded query={query} height={290}>
            {(data) => <Series data={data} show="requests" />}
          </Loaded>
        </Block>
        <Block title="Spend">
          <Loaded query={query} height={290}>
            {(data) => <Series data={data} show="spend_microusd" />}
          </Loaded>
        </Block>
      </SimpleGrid>
      <Block
        title="Breakdown"
        actions={
          <SegmentedControl
            size="xs"
            aria-label="Group by"
            value={by}
            data={["model", "provider", "key"]}
            onChange={(value) => void navigate({ search: (before) => ({ ...before, by: value as By }) })}
          />
        }
      >
        <Loaded query={query} height={200}>
          {(data) => <Groups data={data} by={by} projectId={projectId} />}
        </Loaded>
      </Block>
    </Page>
  )
}

const Series = ({ data, show }: { readonly data: Data; readonly show: "requests" | "spend_microusd" }) => (
  <Chart
    label={show === "requests" ? "Calls over time" : "Spend over time"}
    x={data.timeseries.map(({ date }) => timeOf(date))}
    formatX={data.granularity === "hour" ? hourOf : dayOf}
    isTime
    series={[
      {
        label: show === "requests" ? "Calls" : "Spend",
        values: data.timeseries.map((point) => point[show]),
        format: show === "requests" ? count : money,
        kind: "bars",
        ...(show === "requests" ? {} : { unit: 1_000_000 })
      }
    ]}
  />
)

interface GroupRow {
  readonly id: string
  readonly name: string
  readonly calls: number
  readonly tokens: number | null
  readonly spend: number | null
}

const rowsOf = (data: Data, by: By): ReadonlyArray<GroupRow> => {
  switch (by) {
    case "model":
      return data.by_model.map((each) => ({
        id: each.model,
        name: each.model,
        calls: each.count,
        tokens: each.tokens,
        spend: each.spend_microusd
      }))
    case "key":
      return data.by_key.map((each) => ({
        id: each.key_id,
        name: each.name ?? `deleted key …${each.key_id.slice(-8)}`,
        calls: each.count,
        tokens: each.tokens,
        spend: each.spend_microusd
      }))
    case "provider":
      return data.by_provider.map((each) => ({
        id: each.provider,
        name: each.provider,
        calls: each.count,
        tokens: null,
        spend: null
      }))
  }
}

const Groups = ({ by, data, projectId }: { readonly by: By; readonly data: Data; readonly projectId: string }) => {
  const rows = rowsOf(data, by)
  if (rows.length === 0) return <Empty title="No calls finished in this period" />
  const first = data.timeseries[0]?.date.slice(0, "YYYY-MM-DD".length)
  const since = first === undefined ? {} : { since: first }
  return (
    <WideTable label="Sums" minWidth={340}>
      <Table fz="sm" className="figures">
        <Table.Thead>
          <Table.Tr>
            <Table.Th tt="capitalize">{by}</Table.Th>
            <Table.Th ta="right">Calls</Table.Th>
            {by === "provider" ? null : (
              <>
                <Table.Th ta="right">Tokens</Table.Th>
                <Table.Th ta="right">Spend</Table.Th>
              </>
            )}
            <Table.Th>
              <VisuallyHidden>Its calls</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.id}>
              <Table.Td>{row.name}</Table.Td>
              <Table.Td ta="right">{count(row.calls)}</Table.Td>
              {by === "provider" ? null : (
                <>
                  <Table.Td ta="right">{count(row.tokens)}</Table.Td>
                  <Table.Td ta="right">{money(row.spend)}</Table.Td>
                </>
              )}
              <Table.Td>
                <TextLink to="/p/$projectId/requests" params={{ projectId }} search={{ [by]: row.id, ...since }}>
                  Open
                </TextLink>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}

export default Activity
