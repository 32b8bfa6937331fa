import { Group, Stack, Table } from "@mantine/core"
import type { ReactNode } from "react"
import type { Records } from "../../api/client.ts"
import { CopyText } from "../../parts/CopyText.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { dateTime, unknown } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { signed } from "./signed.ts"

interface LedgerDrawerProps {
  readonly of: Records["LedgerEntryOut"]
  readonly onClose: () => void
}

/** All of an entry, for which a phone has no room in the table. */
const LedgerDrawer = ({ of, onClose }: LedgerDrawerProps) => (
  <Drawer opened onClose={onClose} title="Ledger entry" size="md">
    <Stack>
      <Table fz="sm" className="figures" style={{ overflowWrap: "anywhere" }}>
        <Table.Tbody>
          <Line name="At">{dateTime(of.at)}</Line>
          <Line name="Kind">{of.kind}</Line>
          <Line name="Amount">{signed(of)}</Line>
          {of.call_id === null ? (
            <>
              <Line name="For">{of.note ?? unknown}</Line>
              <Line name="Source">{of.source ?? unknown}</Line>
            </>
          ) : (
            <Line name="For">
              <TextLink to="/requests/$requestId" params={{ requestId: of.call_id }}>
                {`call ${of.call_id}`}
              </TextLink>
            </Line>
          )}
        </Table.Tbody>
      </Table>
      <Group>
        <CopyText label="Entry id" text={of.id} />
      </Group>
    </Stack>
  </Drawer>
)

const Line = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <Table.Tr>
    <Table.Th w="6rem">{name}</Table.Th>
    <Table.Td>{children}</Table.Td>
  </Table.Tr>
)

export default LedgerDrawer
