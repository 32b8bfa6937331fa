import { Group, SimpleGrid, Stack, Table, Text } from "@mantine/core"
import type { Records } from "../../api/client.ts"
import { CopyText } from "../../parts/CopyText.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { count, money } from "../../parts/format.ts"
import { healthOf, stateOf } from "../../parts/health.ts"
import { Status } from "../../parts/Status.tsx"

interface ModelDrawerProps {
  readonly of: Records["CatalogModelOut"]
  readonly figures: ReadonlyArray<readonly [label: string, value: string]>
  readonly onClose: () => void
}

/** All that is known of a model. */
const ModelDrawer = ({ figures, of, onClose }: ModelDrawerProps) => (
  <Drawer opened onClose={onClose} title={of.name} size="md">
    <Stack>
      <Group>
        <Status state={stateOf(of)} label={healthOf(of)} />
        <CopyText label="Copy the id" text={of.id} />
      </Group>
      <SimpleGrid cols={2} spacing="xs">
        {figures.map(([label, value]) => (
          <div key={label}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text size="sm" className="figures">
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      <div>
        <Text size="xs" c="dimmed">
          Can
        </Text>
        {Object.entries(of.capabilities).map(([name, can]) => (
          <span key={name} className="chip" {...(can === true ? { "data-kind": "ok" } : {})}>
            {name}: {can === null ? "unknown" : can ? "yes" : "no"}
          </span>
        ))}
      </div>
      {(of.prices?.tiers.length ?? 0) === 0 ? null : (
        <Table fz="sm" className="figures" aria-label="Prices of longer prompts">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Prompts above</Table.Th>
              <Table.Th ta="right">Input</Table.Th>
              <Table.Th ta="right">Output</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {of.prices?.tiers.map((tier) => (
              <Table.Tr key={tier.above_prompt_tokens}>
                <Table.Td>{count(tier.above_prompt_tokens)}</Table.Td>
                <Table.Td ta="right">{money(tier.input)}</Table.Td>
                <Table.Td ta="right">{money(tier.output)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  </Drawer>
)

export default ModelDrawer
