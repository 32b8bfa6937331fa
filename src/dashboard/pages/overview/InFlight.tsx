import { Group, Stack, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { balance, inFlight } from "../../api/queries.ts"
import { Ago } from "../../parts/Ago.tsx"
import { Block, Loaded } from "../../parts/Block.tsx"
import { money } from "../../parts/format.ts"
import { StopCall } from "../../parts/StopCall.tsx"
import { type Payer, useRole } from "../../shell/project.ts"

interface InFlightProps {
  readonly projectId: string
  readonly payer: Payer | undefined
}

/** Running calls and what they hold. Where the own balance pays, they are asked for only while it holds something. */
export const InFlight = ({ payer, projectId }: InFlightProps) => {
  const funds = useQuery(balance)
  const isOwn = payer === undefined || payer === "own"
  const isBusy = !isOwn || (funds.data?.held_microusd ?? 0) > 0
  const query = useQuery({ ...inFlight(projectId), enabled: isBusy })
  const { mayWrite } = useRole(projectId)
  return (
    <Block title="In flight">
      {!isBusy ? (
        <Loaded query={funds} height={80}>
          {() => (
            <Text size="sm" c="dimmed">
              No call is running: nothing is held.
            </Text>
          )}
        </Loaded>
      ) : (
        <Loaded query={query} height={80}>
          {({ has_more, items }) => (
            <Stack gap={6}>
              {items.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {isOwn ? "What is held belongs to calls of your other projects." : "No call is running."}
                </Text>
              ) : null}
              {items.slice(0, 8).map((call) => (
                <Group key={call.id} justify="space-between" wrap="nowrap" gap="xs">
                  <Text size="sm" truncate>
                    {call.requested_model}
                  </Text>
                  <Group gap="xs" wrap="nowrap">
                    <Text size="sm" c="dimmed" className="figures" style={{ whiteSpace: "nowrap" }}>
                      <Ago of={call.started_at} /> · held {money(call.held_microusd)}
                    </Text>
                    {mayWrite ? <StopCall projectId={projectId} call={call} /> : null}
                  </Group>
                </Group>
              ))}
              {items.length > 8 || has_more ? (
                <Text size="xs" c="dimmed">
                  {has_more ? "more than 100" : items.length} calls are running
                </Text>
              ) : null}
            </Stack>
          )}
        </Loaded>
      )}
    </Block>
  )
}
