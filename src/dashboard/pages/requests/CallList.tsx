import { Button, Group, Select, Stack, Switch, Text } from "@mantine/core"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useMemo, useRef, useState } from "react"
import type { Records } from "../../api/client.ts"
import { catalog, newestRequests, type RequestFilter, requests } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { FilterField } from "../../parts/FilterField.tsx"
import { cost, keyName, seconds, short, time } from "../../parts/format.ts"
import { KeySelect } from "../../parts/KeySelect.tsx"
import { LoadMore } from "../../parts/LoadMore.tsx"
import { RouteTrail } from "../../parts/RouteTrail.tsx"
import { Status } from "../../parts/Status.tsx"
import { statuses } from "../../search.ts"
import { useKeys } from "../../shell/keys.ts"
import { Snippets } from "../keys/Snippets.tsx"
import { ExportButtons } from "./ExportButtons.tsx"

type Call = Records["RequestOut"]

const liveMillis = 2_000
const typingMillis = 300
const ranges = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 } as const
const rangeLabels = [
  { value: "1h", label: "last hour" },
  { value: "24h", label: "last 24 h" },
  { value: "7d", label: "last 7 days" },
  { value: "30d", label: "last 30 days" }
]
const rangeOf = (value: string | null): keyof typeof ranges | undefined =>
  (Object.keys(ranges) as Array<keyof typeof ranges>).find((each) => each === value)

interface CallListProps {
  readonly projectId: string
  readonly onOpen: (id: string) => void
}

/** The log of calls; its filters stand in the address. */
export const CallList = ({ onOpen, projectId }: CallListProps) => {
  const search = useSearch({ from: "/shell/p/$projectId/requests" })
  const navigate = useNavigate({ from: "/p/$projectId/requests" })
  const { key, live, model, provider, q, range, since, status } = search
  // the start of a range moves on only when a filter changes: else every moment would be another list
  const filter = useMemo<RequestFilter>(
    () => ({
      ...(status === undefined ? {} : { status }),
      ...(model === undefined ? {} : { model }),
      ...(provider === undefined ? {} : { provider }),
      ...(key === undefined ? {} : { key }),
      ...(q === undefined ? {} : { q }),
      ...(range !== undefined
        ? { from: new Date(Date.now() - ranges[range]).toISOString() }
        : since !== undefined
          ? { from: new Date(since).toISOString() }
          : {})
    }),
    [status, model, provider, key, q, range, since]
  )
  const list = useInfiniteQuery(requests(projectId, filter))
  // another filter begins its list at the top
  const [scrolled, setScrolled] = useState<RequestFilter>()
  const newest = useQuery({
    ...newestRequests(projectId, filter),
    enabled: live === "1" && scrolled !== filter,
    refetchInterval: liveMillis
  })
  const models = useQuery(catalog(projectId)).data ?? []
  const isListNewer = list.dataUpdatedAt > newest.dataUpdatedAt
  const rows = useMemo(() => {
    const [followed, listed] = [newest.data?.items ?? [], list.data?.pages.flatMap(({ items }) => items) ?? []]
    const calls = isListNewer ? [...listed, ...followed] : [...followed, ...listed]
    return [...new Map(calls.map((call) => [call.id, call])).values()]
  }, [newest.data, list.data, isListNewer])
  const { refetch } = list
  useEffect(() => {
    if (newest.data === undefined || list.data === undefined || !newest.data.has_more || isListNewer) return
    const listed = new Set(list.data.pages.flatMap(({ items }) => items.map(({ id }) => id)))
    // more calls than it answers at a time: those in between are in neither
    if (!newest.data.items.some(({ id }) => listed.has(id))) void refetch()
  }, [newest.data, list.data, isListNewer, refetch])
  const set = (change: { readonly [Name in keyof typeof search]?: (typeof search)[Name] | undefined }) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined && value !== "")
        )
    })
  const searchField = useRef<HTMLInputElement>(null)
  useKeys({ "/": () => searchField.current?.focus() })
  const isFiltered = Object.keys(filter).length > 0
  const clear = () => {
    // its button goes
    searchField.current?.focus()
    void navigate({ search: {} })
  }

  return (
    <Stack gap="sm">
      <Group gap="xs" align="flex-end">
        <FilterField
          ref={searchField}
          label="Search"
          value={q}
          onChange={(value) => set({ q: value })}
          waitMillis={typingMillis}
          w={170}
          maxLength={200}
          placeholder="id, model, error code"
        />
        <FilterField
          label="Model"
          value={model}
          onChange={(value) => set({ model: value })}
          waitMillis={typingMillis}
          w={170}
          placeholder="id of the model"
          suggestions={models.map(({ id }) => id)}
        />
        <Select
          label="Status"
          size="xs"
          w={130}
          clearable
          data={[...statuses]}
          value={status ?? null}
          onChange={(value) => set({ status: statuses.find((each) => each === value) })}
        />
        <Select
          label="Provider"
          size="xs"
          w={140}
          clearable
          data={[...new Set([...models.map((each) => each.provider), ...(provider === undefined ? [] : [provider])])]}
          value={provider ?? null}
          onChange={(value) => set({ provider: value ?? undefined })}
        />
        <KeySelect
          projectId={projectId}
          size="xs"
          w={150}
          clearable
          value={key ?? ""}
          onChange={(value) => set({ key: value ?? undefined })}
        />
        <Select
          label="Time"
          size="xs"
          w={170}
          clearable
          data={[...rangeLabels, ...(since === undefined ? [] : [{ value: since, label: `from ${since}` }])]}
          value={range ?? since ?? null}
          onChange={(value) =>
            set(value !== null && value === since ? { range: undefined } : { range: rangeOf(value), since: undefined })
          }
        />
        <Switch
          label="Live"
          size="sm"
          mb={6}
          checked={live === "1"}
          onChange={({ currentTarget }) => set({ live: currentTarget.checked ? "1" : undefined })}
        />
        <ExportButtons projectId={projectId} filter={filter} />
      </Group>
      <Loaded query={list} height={420}>
        {() =>
          rows.length === 0 && list.hasNextPage ? (
            <Empty title="Nothing among the newest calls">
              <LoadMore list={list}>Search older calls</LoadMore>
            </Empty>
          ) : rows.length === 0 && isFiltered ? (
            <Empty title="Nothing matches">
              {model === undefined || models.some(({ id }) => id === model) ? null : (
                <Text size="sm" c="dimmed">
                  "Model" matches whole ids of models that have answered; "Search" finds parts of them.
                </Text>
              )}
              <Button variant="default" onClick={clear}>
                Clear the filters
              </Button>
            </Empty>
          ) : rows.length === 0 ? (
            <Empty title="No call yet">
              <Text size="sm" c="dimmed">
                Calls appear here when they finish. Make one:
              </Text>
              <Stack w="100%" maw={640} ta="left">
                <Snippets secret="$GATEWAY_API_KEY" />
              </Stack>
            </Empty>
          ) : (
            <DataTable
              label="Calls"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              activeKey={search.request}
              onOpen={({ id }) => onOpen(id)}
              onScrolled={(isAtTop) => setScrolled(isAtTop ? undefined : filter)}
              list={list}
            />
          )
        }
      </Loaded>
    </Stack>
  )
}

const columns: ReadonlyArray<Column<Call>> = [
  { id: "time", header: "Ended", width: "6rem", cell: ({ ended_at }) => time(ended_at) },
  { id: "key", header: "Key", width: "5rem", from: "lg", cell: keyName },
  { id: "model", header: "Model", width: "minmax(5rem, 2fr)", cell: (call) => <Route {...call} /> },
  {
    id: "attempts",
    header: "Attempts",
    width: "minmax(7.5rem, 1fr)",
    from: "md",
    cell: ({ attempts }) => <RouteTrail attempts={attempts} />
  },
  { id: "status", header: "Status", width: "6rem", from: "sm", cell: ({ status }) => <Status state={status} /> },
  {
    id: "tokens",
    header: "Tokens",
    width: "6rem",
    align: "right",
    from: "lg",
    cell: ({ usage }) => (usage === null ? "—" : `${short(usage.prompt_tokens)} → ${short(usage.completion_tokens)}`)
  },
  { id: "cost", header: "Cost", width: "6rem", align: "right", cell: (call) => cost(call.cost) },
  {
    id: "first",
    header: "First",
    width: "4.5rem",
    align: "right",
    from: "lg",
    cell: (call) => seconds(call.first_content_ms)
  },
  {
    id: "total",
    header: "Total",
    width: "4.5rem",
    align: "right",
    from: "sm",
    cell: (call) => seconds(call.latency_ms)
  }
]

/** On a phone only which model it was, and whether it failed: there is no column for that. */
const Route = ({ model, requested_model, status }: Call) => (
  <>
    {status === "success" ? null : (
      <Text span size="sm" c="var(--mantine-color-red-text)" hiddenFrom="sm" role="img" aria-label={status}>
        ✕{" "}
      </Text>
    )}
    {model === null || model === requested_model ? null : (
      <Text span c="dimmed" size="sm" visibleFrom="sm">
        {requested_model} →{" "}
      </Text>
    )}
    {model ?? requested_model}
  </>
)
