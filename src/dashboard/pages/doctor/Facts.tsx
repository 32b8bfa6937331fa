import "./doctor.css"
import { Stack, Table, Text } from "@mantine/core"
import { count, money, percent, seconds, unknown } from "../../parts/format.ts"
import { WideTable } from "../../parts/WideTable.tsx"
import { Prose } from "./Prose.tsx"

interface FactsProps {
  readonly of: unknown
  /** The field; its ending says the unit. */
  readonly name: string
}

/** Deeper values are written as JSON. */
const maxDepth = 4

/** Any value of a record, with the units that the names of its fields end with: also what only a newer service answers. */
export const Facts = ({ depth = 0, name, of }: FactsProps & { readonly depth?: number }) => {
  if (!isComposite(of) || depth >= maxDepth) {
    return (
      <Text size="sm" className="figures" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        <Prose text={textOf(of, name)} />
      </Text>
    )
  }
  if (Array.isArray(of)) return <ListOf of={of} name={name} depth={depth} />
  const entries = Object.entries(of)
  // a single text needs no name
  const [only] = entries
  if (entries.length === 1 && only?.[0] === "text") return <Facts of={only[1]} name="text" depth={depth + 1} />
  return (
    <dl className="facts">
      {entries.map(([field, value]) => (
        <div key={field}>
          <dt>{nameOf(field)}</dt>
          <dd>
            <Facts of={value} name={field} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Records with the same fields are rows of a table. */
const ListOf = ({
  depth,
  name,
  of
}: {
  readonly of: ReadonlyArray<unknown>
  readonly name: string
  readonly depth: number
}) => {
  if (of.length === 0) return <Text size="sm">none</Text>
  const [first] = of
  const columns = isComposite(first) && !Array.isArray(first) ? Object.keys(first) : []
  const isTable =
    columns.length > 1 &&
    of.every((row) => isComposite(row) && columns.every((column) => !isComposite((row as Fields)[column])))
  if (isTable) {
    return (
      <WideTable label={nameOf(name)} minWidth={columns.length * 110}>
        <Table fz="sm" className="figures">
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column}>{nameOf(column)}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {of.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a report do not change
              <Table.Tr key={index}>
                {columns.map((column) => (
                  <Table.Td key={column}>{textOf((row as Fields)[column], column)}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    )
  }
  return (
    <Stack gap="xs" component="ul" m={0} pl="lg">
      {of.map((each, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries of a report do not change
        <li key={index}>
          <Facts of={each} name={name} depth={depth + 1} />
        </li>
      ))}
    </Stack>
  )
}

type Fields = Readonly<Record<string, unknown>>

const isComposite = (value: unknown): value is Fields | ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null

const units: ReadonlyArray<readonly [ending: RegExp, write: (value: number) => string]> = [
  [/_microusd(_up_to)?$/, money],
  [/_microusd_hours$/, (value) => `${money(value)} × hours`],
  [/_ms$/, seconds],
  [/(^|_)(share|confidence|explained)$/, percent],
  // no amount: it is what the same report is made from again
  [/^seed$/, String]
]

/** Such as `held_idle_microusd_hours` as "held idle". */
export const nameOf = (field: string): string => {
  const words = field.replace(/_microusd(_hours|_up_to)?$|_ms$/, "").replaceAll("_", " ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const textOf = (value: unknown, name: string): string => {
  if (value === null || value === undefined) return unknown
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "number") return (units.find(([ending]) => ending.test(name))?.[1] ?? count)(value)
  return typeof value === "string" ? value : JSON.stringify(value, null, 2)
}
