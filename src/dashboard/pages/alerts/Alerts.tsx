import { Stack, Table, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { Records } from "../../api/client.ts"
import { alerts } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { counted, dateTime, money } from "../../parts/format.ts"
import { Page } from "../../parts/Page.tsx"
import { Status } from "../../parts/Status.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { WideTable } from "../../parts/WideTable.tsx"
import { useRole } from "../../shell/project.ts"
import { AlertSettings } from "./AlertSettings.tsx"

/** The spend alerts of the project. */
const Alerts = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/alerts" })
  const query = useQuery(alerts(projectId))
  const { mayWrite } = useRole(projectId)
  return (
    <Page title="Alerts" lead="Each threshold is reported once per period, here and to a webhook.">
      <ViewerNote projectId={projectId} />
      <Block title="Thresholds">
        <Loaded query={query} height={200}>
          {(found) => <AlertSettings key={projectId} projectId={projectId} latest={found} mayWrite={mayWrite} />}
        </Loaded>
      </Block>
      <Block title="Alert history">
        <Loaded query={query} height={120}>
          {({ data }) => <Events events={data.events} />}
        </Loaded>
      </Block>
    </Page>
  )
}

type Event = Records["AlertEventOut"]

export const thresholdText = (of: Records["AlertThreshold"]): string =>
  of.type === "limit_percent" ? `${of.percent} % of the limit` : `${money(of.amount_microusd)} a ${of.period}`

const Events = ({ events }: { readonly events: ReadonlyArray<Event> }) =>
  events.length === 0 ? (
    <Text size="sm" c="dimmed">
      No threshold has been reached yet.
    </Text>
  ) : (
    <Stack>
      <WideTable label="Reached thresholds" minWidth={480}>
        <Table fz="sm" className="figures">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Detected</Table.Th>
              <Table.Th>Threshold</Table.Th>
              <Table.Th>Spent</Table.Th>
              <Table.Th>Webhook</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map((event) => (
              <Table.Tr key={event.id}>
                <Table.Td>{dateTime(event.fired_at)}</Table.Td>
                <Table.Td>{thresholdText(event.threshold)}</Table.Td>
                <Table.Td>{money(event.spent_microusd)}</Table.Td>
                <Table.Td>
                  <Status state={event.delivery.status} />{" "}
                  {event.delivery.last_error === null
                    ? ""
                    : `${event.delivery.last_error}, ${counted(event.delivery.attempts, "attempt")}`}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Stack>
  )

export default Alerts
