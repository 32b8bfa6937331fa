import { Button, Group, SimpleGrid, Table, Text, VisuallyHidden } from "@mantine/core"
import { PlusIcon } from "@primer/octicons-react"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import type { Records } from "../../api/client.ts"
import { balance, ledger, payments } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { money, time } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { LoadMore } from "../../parts/LoadMore.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { Status } from "../../parts/Status.tsx"
import { Tile } from "../../parts/Tile.tsx"
import { WideTable } from "../../parts/WideTable.tsx"
import { useKeys } from "../../shell/keys.ts"
import { signed } from "./signed.ts"

const AddCredit = loadedWhenShown(() => import("./AddCredit.tsx"))
const LedgerDrawer = loadedWhenShown(() => import("./LedgerDrawer.tsx"))

const microUsdPerCent = 10_000

/** The balance, where it comes from and where it went. */
const Credits = () => {
  const { buy } = useSearch({ from: "/shell/credits" })
  const navigate = useNavigate({ from: "/credits" })
  const funds = useQuery(balance)
  const open = () => void navigate({ search: { buy: "1" } })
  useKeys({ c: open })
  return (
    <Page
      title="Credits"
      lead="Your account pays for the calls of your projects."
      actions={
        <Button leftSection={<PlusIcon />} onClick={open}>
          Add credit
        </Button>
      }
    >
      <Loaded query={funds} height={90}>
        {(of) => (
          <SimpleGrid cols={{ base: 2, sm: 4 }}>
            <Tile label="Credited" value={money(of.credited_microusd)} />
            <Tile label="= Spent" value={money(of.spent_microusd)} />
            <Tile label="+ Held" value={money(of.held_microusd)} />
            <Tile label="+ Available" value={money(of.available_microusd)} />
          </SimpleGrid>
        )}
      </Loaded>
      <Block title="Payments">
        <Payments />
      </Block>
      <Block title="Ledger">
        <Ledger />
      </Block>
      {buy === "1" ? <AddCredit onClose={() => void navigate({ search: {} })} /> : null}
    </Page>
  )
}

const Payments = () => {
  const list = useInfiniteQuery(payments)
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Loaded query={list} height={80}>
      {() =>
        items.length === 0 ? (
          <Text size="sm" c="dimmed">
            You have not bought credit yet.
          </Text>
        ) : (
          <>
            <WideTable label="Payments" minWidth={420}>
              <Table fz="sm" className="figures">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>At</Table.Th>
                    <Table.Th>Amount</Table.Th>
                    <Table.Th>Credited</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th>
                      <VisuallyHidden>Details</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {items.map((payment) => (
                    <Table.Tr key={payment.id}>
                      <Table.Td>{time(payment.created_at)}</Table.Td>
                      <Table.Td>{money(payment.checkout_amount_cents * microUsdPerCent)}</Table.Td>
                      <Table.Td>{money(payment.credited_amount_microusd)}</Table.Td>
                      <Table.Td>
                        <Status state={payment.status} />
                      </Table.Td>
                      <Table.Td>
                        {payment.session_id === null ? null : (
                          <TextLink to="/checkout/$sessionId" params={{ sessionId: payment.session_id }}>
                            Details
                          </TextLink>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </WideTable>
            <LoadMore size="xs" w="fit-content" list={list}>
              Earlier payments
            </LoadMore>
          </>
        )
      }
    </Loaded>
  )
}

type Entry = Records["LedgerEntryOut"]

const Ledger = () => {
  const list = useInfiniteQuery(ledger)
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  const { entry } = useSearch({ from: "/shell/credits" })
  const navigate = useNavigate({ from: "/credits" })
  const open = entry === undefined ? undefined : rows.find(({ id }) => id === entry)
  return (
    <Loaded query={list} height={240}>
      {() =>
        rows.length === 0 ? (
          <Empty title="No transactions yet" />
        ) : (
          <>
            <DataTable
              label="Ledger"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              activeKey={entry}
              onOpen={({ id }) => void navigate({ search: { entry: id } })}
              maxHeight="26rem"
              list={list}
            />
            {open === undefined ? null : <LedgerDrawer of={open} onClose={() => void navigate({ search: {} })} />}
          </>
        )
      }
    </Loaded>
  )
}

const columns: ReadonlyArray<Column<Entry>> = [
  { id: "at", header: "At", width: "6rem", cell: ({ at }) => time(at) },
  { id: "kind", header: "Kind", width: "3.5rem", cell: ({ kind }) => kind },
  { id: "amount", header: "Amount", width: "6rem", align: "right", cell: signed },
  {
    id: "of",
    header: "For",
    from: "sm",
    cell: ({ call_id, note, source }) =>
      call_id === null ? (
        (note ?? source ?? "")
      ) : (
        <Group gap={4} wrap="nowrap">
          <TextLink to="/requests/$requestId" params={{ requestId: call_id }}>
            {`call …${call_id.slice(-8)}`}
          </TextLink>
        </Group>
      )
  }
]

export default Credits
