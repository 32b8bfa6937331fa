import { Button, Checkbox, Group, Select, Table, Text, VisuallyHidden } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useMemo, useRef } from "react"
import type { Records } from "../../api/client.ts"
import { catalog, liveMillis } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { FilterField } from "../../parts/FilterField.tsx"
import { count, counted, money, seconds, short } from "../../parts/format.ts"
import { healthOf, stateOf } from "../../parts/health.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { Status } from "../../parts/Status.tsx"
import { WideTable } from "../../parts/WideTable.tsx"
import { useKeys } from "../../shell/keys.ts"

const ModelDrawer = loadedWhenShown(() => import("./ModelDrawer.tsx"))

type Model = Records["CatalogModelOut"]
type Sort = "id" | "input" | "output" | "context" | "quality"

const maxCompared = 4
const typingMillis = 200
const sorts = [
  { value: "id", label: "by id" },
  { value: "input", label: "cheapest input" },
  { value: "output", label: "cheapest output" },
  { value: "context", label: "longest context" },
  { value: "quality", label: "best quality" }
]

/** Ascending; what is unknown comes last. */
const orders: Readonly<Record<Sort, (model: Model) => number>> = {
  id: () => 0,
  input: ({ prices }) => prices?.input ?? Number.POSITIVE_INFINITY,
  output: ({ prices }) => prices?.output ?? Number.POSITIVE_INFINITY,
  context: ({ context_tokens }) => -(context_tokens ?? 0),
  quality: ({ quality }) => -quality
}

/** What can be called, what it costs and how it does. */
const Models = () => {
  const search = useSearch({ from: "/shell/p/$projectId/models" })
  const { model, provider, q, sort = "id" } = search
  const navigate = useNavigate({ from: "/p/$projectId/models" })
  const { projectId } = useParams({ from: "/shell/p/$projectId/models" })
  // their health changes
  const query = useQuery({ ...catalog(projectId), refetchInterval: liveMillis })
  const set = (change: { readonly [Name in keyof typeof search]?: (typeof search)[Name] | undefined }) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined && value !== "")
        )
    })
  const field = useRef<HTMLInputElement>(null)
  useKeys({ "/": () => field.current?.focus() })
  const compared = useMemo(() => (search.compare ?? "").split(",").filter((id) => id !== ""), [search.compare])
  const toggle = (id: string) => {
    const next = compared.includes(id) ? compared.filter((each) => each !== id) : [...compared, id].slice(-maxCompared)
    set({ compare: next.join(",") })
  }
  const shown = useMemo(() => {
    const wanted = (q ?? "").toLowerCase()
    return (query.data ?? [])
      .filter((each) => provider === undefined || each.provider === provider)
      .filter(({ id, name }) => id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted))
      .sort((a, b) => orders[sort](a) - orders[sort](b))
  }, [query.data, q, provider, sort])
  const clear = () => {
    // its button goes
    field.current?.focus()
    set({ q: undefined, provider: undefined })
  }
  const open = query.data?.find(({ id }) => id === model)

  return (
    <Page
      title="Models"
      lead="Prices are per million tokens. auto chooses among the listed ones that the policy allows."
    >
      {compared.length < 2 ? null : (
        <Block title="Compare">
          <Compared models={compared.flatMap((id) => query.data?.filter((each) => each.id === id) ?? [])} />
        </Block>
      )}
      <Block>
        <Group gap="xs" align="flex-end">
          <FilterField
            ref={field}
            label="Name"
            value={q}
            onChange={(value) => set({ q: value })}
            waitMillis={typingMillis}
          />
          <Select
            label="Provider"
            size="xs"
            w={150}
            clearable
            data={[...new Set(query.data?.map((each) => each.provider))]}
            value={provider ?? null}
            onChange={(value) => set({ provider: value ?? undefined })}
          />
          <Select
            label="Order"
            size="xs"
            w={160}
            allowDeselect={false}
            data={sorts}
            value={sort}
            onChange={(value) => set({ sort: value === "id" ? undefined : ((value ?? undefined) as Sort | undefined) })}
          />
          <Text size="xs" c="dimmed" mb={8} role="status">
            {query.data === undefined ? "" : counted(shown.length, "model")}
          </Text>
        </Group>
        <Loaded query={query} height={420}>
          {() =>
            shown.length === 0 ? (
              query.data?.length === 0 ? (
                <Empty title="No model can be called yet">
                  <TextLink to="/p/$projectId/providers" params={{ projectId }}>
                    Providers
                  </TextLink>
                </Empty>
              ) : (
                <Empty title="Nothing matches">
                  <Button variant="default" onClick={clear}>
                    Clear the filters
                  </Button>
                </Empty>
              )
            ) : (
              <DataTable
                label="Models"
                columns={columnsWith(compared, toggle)}
                rows={shown}
                keyOf={({ id }) => id}
                activeKey={model}
                onOpen={({ id }) => set({ model: id })}
              />
            )
          }
        </Loaded>
      </Block>
      {open === undefined ? null : (
        <ModelDrawer
          of={open}
          figures={facts.map(([label, value]) => [label, value(open)])}
          onClose={() => set({ model: undefined })}
        />
      )}
    </Page>
  )
}

const columnsWith = (compared: ReadonlyArray<string>, toggle: (id: string) => void): ReadonlyArray<Column<Model>> => [
  {
    id: "compare",
    header: <VisuallyHidden>Compare</VisuallyHidden>,
    width: "1.75rem",
    from: "sm",
    cell: ({ id }) => (
      <Checkbox
        size="xs"
        aria-label={`Compare ${id}`}
        checked={compared.includes(id)}
        onChange={() => toggle(id)}
        onClick={(event) => event.stopPropagation()}
      />
    )
  },
  { id: "id", header: "Model", width: "minmax(7rem, 1.4fr)", cell: ({ id }) => id },
  { id: "input", header: "Input", width: "4rem", align: "right", cell: ({ prices }) => money(prices?.input) },
  { id: "output", header: "Output", width: "4.5rem", align: "right", cell: ({ prices }) => money(prices?.output) },
  {
    id: "context",
    header: "Context",
    width: "5rem",
    align: "right",
    from: "sm",
    cell: (of) => short(of.context_tokens)
  },
  { id: "quality", header: "Quality", width: "5rem", align: "right", from: "sm", cell: (of) => of.quality.toFixed(2) },
  {
    id: "can",
    header: "Can",
    from: "lg",
    cell: ({ capabilities }) =>
      Object.entries(capabilities)
        .filter(([, can]) => can === true)
        .map(([name]) => name)
        .join(", ")
  },
  {
    id: "health",
    header: "Health",
    width: "9rem",
    from: "md",
    cell: (of) => <Status state={stateOf(of)} label={healthOf(of)} />
  }
]

const facts: ReadonlyArray<readonly [label: string, of: (model: Model) => string]> = [
  ["Provider", ({ provider }) => provider],
  ["Input, per million", ({ prices }) => money(prices?.input)],
  ["Output, per million", ({ prices }) => money(prices?.output)],
  ["Cache read, per million", ({ prices }) => money(prices?.cache_read)],
  ["Cache write, per million", ({ prices }) => money(prices?.cache_write)],
  ["Context", ({ context_tokens }) => count(context_tokens)],
  ["Longest completion", ({ output_tokens }) => count(output_tokens)],
  ["Quality, estimated", ({ quality }) => quality.toFixed(2)],
  ["Reasoning efforts", ({ reasoning_efforts }) => reasoning_efforts?.join(", ") ?? "—"],
  ["First content, average", ({ health }) => seconds(health.latency_ms)],
  ["Health", healthOf],
  ["Used by auto", ({ listed }) => (listed ? "yes, where the policy allows it" : "no, only by its id")]
]

const Compared = ({ models }: { readonly models: ReadonlyArray<Model> }) => (
  <WideTable label="Comparison of models" minWidth={200 + models.length * 130}>
    <Table fz="sm" className="figures" aria-label="Comparison">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>
            <VisuallyHidden>Figure</VisuallyHidden>
          </Table.Th>
          {models.map(({ id }) => (
            <Table.Th key={id}>{id}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {facts.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Td>{label}</Table.Td>
            {models.map((each) => (
              <Table.Td key={each.id}>{value(each)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </WideTable>
)

export default Models
