import { Table, Text, Textarea } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client, take } from "../../api/client.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { money } from "../../parts/format.ts"
import { exclusionList, reasonText } from "../../parts/reasons.ts"
import { WideTable } from "../../parts/WideTable.tsx"

interface RoutePreviewProps {
  readonly projectId: string
  readonly model: string
  /** A new one is previewed at once. */
  readonly version: number | null
}

/** What a message would be routed to now; nothing is sent to a provider, held or charged. */
export const RoutePreview = ({ model, projectId, version }: RoutePreviewProps) => {
  const [text, setText] = useState("Summarise this contract in three sentences.")
  const [asked] = useDebouncedValue(text, 400)
  const query = useQuery({
    queryKey: ["route", projectId, model, version, asked],
    queryFn: ({ signal }) =>
      take(
        client.POST("/api/projects/{id}/route", {
          params: { path: { id: projectId } },
          body: { model, messages: [{ role: "user", content: asked }] } as never,
          signal
        })
      ),
    placeholderData: keepPreviousData
  })
  return (
    <Block title="What it chooses now">
      <Textarea
        label="For the message"
        autosize
        maxRows={5}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Loaded query={query} height={160}>
        {({ alpha, candidates, error, excluded, reason }) =>
          error !== null ? (
            <Text size="sm" role="alert">
              {error.code}: {error.message}
            </Text>
          ) : (
            <>
              <Text size="sm">
                {candidates[0]?.model}: {reasonText(reason)}, at alpha {alpha}.
              </Text>
              <WideTable label="Candidates" minWidth={320}>
                <Table fz="sm" className="figures">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Model</Table.Th>
                      <Table.Th ta="right">Quality</Table.Th>
                      <Table.Th ta="right">Expected</Table.Th>
                      <Table.Th ta="right">At most</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {candidates.slice(0, 8).map((each) => (
                      <Table.Tr key={each.model}>
                        <Table.Td>{each.model}</Table.Td>
                        <Table.Td ta="right">{each.quality.toFixed(2)}</Table.Td>
                        <Table.Td ta="right">≈&nbsp;{money(each.expected_cost_microusd)}</Table.Td>
                        <Table.Td ta="right">{money(each.max_cost_microusd)}</Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </WideTable>
              {Object.keys(excluded).length === 0 ? null : (
                <Text size="xs" c="dimmed">
                  Excluded: {exclusionList(excluded)}
                </Text>
              )}
            </>
          )
        }
      </Loaded>
    </Block>
  )
}
