import { SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { Records } from "../../api/client.ts"
import { activity, balance, savings } from "../../api/queries.ts"
import { Block, Loaded, Waiting } from "../../parts/Block.tsx"
import { Chart } from "../../parts/Chart.tsx"
import { count, counted, money, percent, short } from "../../parts/format.ts"
import { LinkButton } from "../../parts/LinkButton.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { dayOf, hourOf, timeOf } from "../../parts/points.ts"
import { Shares } from "../../parts/Shares.tsx"
import { Tile } from "../../parts/Tile.tsx"
import { type Days, days, rangeLabels } from "../../search.ts"
import { type Payer, usePayer, useRole } from "../../shell/project.ts"
import { Attention } from "./Attention.tsx"
import { InFlight } from "./InFlight.tsx"

const FirstCall = loadedWhenShown(() => import("./FirstCall.tsx"))

/** Is all well, and what does it cost. */
const Overview = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/" })
  const { days: range = 7, show = "requests" } = useSearch({ from: "/shell/p/$projectId/" })
  const navigate = useNavigate({ from: "/p/$projectId" })
  const query = useQuery(activity(projectId, range, range === 1 ? "hour" : "day"))
  const money = useQuery(balance).data
  const payer = usePayer(projectId)
  const { role } = useRole(projectId)
  const saved = useQuery(savings(projectId, range)).data
  // the card stays after the first call has been made in it
  const [isFirst, setFirst] = useState<boolean>()
  if (isFirst === undefined && query.data !== undefined) setFirst(isEmpty(query.data))

  return (
    <Page
      title="Overview"
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
      <Loaded query={query} height={92}>
        {({ summary }) => <Tiles summary={summary} balance={money} payer={payer} />}
      </Loaded>
      {isFirst === true && payer !== undefined && role !== "viewer" ? (
        <FirstCall fallback={<Waiting height={170} />} key={projectId} projectId={projectId} payer={payer} />
      ) : null}
      {saved === undefined || saved.saved_microusd <= 0 ? null : <Saved of={saved} range={range} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Block
          title={show === "requests" ? "Calls" : "Spend"}
          actions={
            <SegmentedControl
              size="xs"
              aria-label="Figure"
              value={show}
              data={[
                { value: "requests", label: "Calls" },
                { value: "spend", label: "Spend" }
              ]}
              onChange={(value) =>
                void navigate({ search: (before) => ({ ...before, show: value as "requests" | "spend" }) })
              }
            />
          }
        >
          <Loaded query={query} height={290}>
            {(data) => <Timeseries data={data} show={show} />}
          </Loaded>
        </Block>
        <Block
          title="By provider and model"
          actions={
            <LinkButton
              to="/p/$projectId/activity"
              params={{ projectId }}
              search={{ days: range }}
              size="compact-xs"
              variant="default"
            >
              Activity
            </LinkButton>
          }
        >
          <Loaded query={query} height={290}>
            {(data) => <Breakdown data={data} />}
          </Loaded>
        </Block>
        <InFlight projectId={projectId} payer={payer} />
        <Attention projectId={projectId} isReady={query.data !== undefined} />
      </SimpleGrid>
    </Page>
  )
}

const isEmpty = ({ summary, timeseries }: Records["ActivityDataOut"]): boolean =>
  summary.requests_24h === 0 && timeseries.every(({ requests }) => requests === 0)

/** Only where something was saved: who sends everything to one model compares with nothing. */
const Saved = ({ of, range }: { readonly of: Records["SavingsOut"]; readonly range: Days }) => (
  <Block>
    <Text size="sm" className="figures" data-testid="savings">
      Saved ≈{" "}
      <Text span fw={650}>
        {money(of.saved_microusd)}
      </Text>{" "}
      {range === 1 ? "today" : `in ${rangeLabels[range]}`}, compared with sending everything to{" "}
      {of.by_model
        .map(({ model }) => model)
        .slice(0, 2)
        .join(" and ")}
      {of.by_model.length > 2 ? ` and ${of.by_model.length - 2} more` : ""}: ≈ {money(of.baseline_microusd)} for{" "}
      {counted(of.count, "call")} that cost {money(of.spend_microusd)}.
    </Text>
  </Block>
)

interface TilesProps {
  readonly summary: Records["ActivitySummaryOut"]
  readonly balance: Records["BalanceOut"] | undefined
  readonly payer: Payer | undefined
}

const Tiles = ({ balance, payer, summary }: TilesProps) => (
  <SimpleGrid cols={payer === "other" ? { base: 2, sm: 4 } : { base: 2, sm: 3, lg: 6 }} spacing="sm">
    {payer === "other" ? null : payer === undefined ? (
      // the place of the balance, whose it is not known yet
      <>
        <div />
        <div />
      </>
    ) : (
      <>
        <Tile label="Available" value={money(balance?.available_microusd)} />
        <Tile label="Held by running calls" value={money(balance?.held_microusd)} />
      </>
    )}
    <Tile label="Spent, 24 h" value={money(summary.spend_24h_microusd)} />
    <Tile label="Calls, 24 h" value={count(summary.requests_24h)} />
    <Tile label="Tokens, 24 h" value={short(summary.tokens_24h)} />
    <Tile label="Errors, 24 h" value={percent(summary.error_rate_pct / 100)} />
  </SimpleGrid>
)

const Timeseries = ({
  data,
  show
}: {
  readonly data: Records["ActivityDataOut"]
  readonly show: "requests" | "spend"
}) => (
  <Chart
    label={show === "requests" ? "Calls over time" : "Spend over time"}
    x={data.timeseries.map(({ date }) => timeOf(date))}
    formatX={data.granularity === "hour" ? hourOf : dayOf}
    isTime
    series={[
      show === "requests"
        ? { label: "Calls", values: data.timeseries.map(({ requests }) => requests), format: count, kind: "bars" }
        : {
            label: "Spend",
            values: data.timeseries.map((point) => point.spend_microusd),
            format: money,
            kind: "bars",
            unit: 1_000_000
          }
    ]}
  />
)

const Breakdown = ({ data }: { readonly data: Records["ActivityDataOut"] }) =>
  data.by_provider.length === 0 ? (
    <Text size="sm" c="dimmed">
      No calls finished in this period.
    </Text>
  ) : (
    <Stack>
      <Shares
        label="Calls by provider"
        parts={data.by_provider.map(({ count: calls, provider }) => ({
          name: provider,
          value: calls,
          text: `${count(calls)} ${calls === 1 ? "call" : "calls"}`
        }))}
      />
      <Shares
        label="Spend by model"
        max={5}
        others={(models, spend) => ({
          name: `${models} more ${models === 1 ? "model" : "models"}`,
          text: money(spend)
        })}
        parts={data.by_model.map((each) => ({
          name: each.model,
          value: each.spend_microusd,
          text: money(each.spend_microusd)
        }))}
      />
    </Stack>
  )

export default Overview
