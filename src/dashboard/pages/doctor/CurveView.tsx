import { Table } from "@mantine/core"
import { Block } from "../../parts/Block.tsx"
import { money, percent, unknown } from "../../parts/format.ts"
import { WideTable } from "../../parts/WideTable.tsx"
import type { Report } from "./queries.ts"

type Point = NonNullable<Report["alpha_curve"]>[number]

const shares = ({ models }: Point): string =>
  Object.entries(models)
    .sort(([, a], [, b]) => b - a)
    .map(([model, share]) => `${model} ${percent(share)}`)
    .join(", ")

/** The calls at each alpha; of neighbours that choose the same models only the first. */
export const CurveView = ({ points }: { readonly points: ReadonlyArray<Point> }) => (
  <Block title="The calls that named no model, at other alphas">
    <WideTable label="The calls at other alphas" minWidth={480}>
      <Table fz="sm" className="figures">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Alpha from</Table.Th>
            <Table.Th>Expected cost</Table.Th>
            <Table.Th>Predicted quality</Table.Th>
            <Table.Th>Models</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points
            .filter((point, index) => index === 0 || shares(point) !== shares(points[index - 1] ?? point))
            .map((point) => (
              <Table.Tr key={point.alpha}>
                <Table.Td>{point.alpha}</Table.Td>
                <Table.Td>{money(point.cost_microusd)}</Table.Td>
                <Table.Td>{point.quality?.toFixed(3) ?? unknown}</Table.Td>
                <Table.Td>{shares(point)}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  </Block>
)
