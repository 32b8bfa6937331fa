import { Box, Group, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { createContext, useContext } from "react"
import type { Records } from "../../api/client.ts"
import { catalog, request } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { cost, count, dateTime, keyName, money, seconds } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { exclusionList, reasonText } from "../../parts/reasons.ts"
import { Status } from "../../parts/Status.tsx"
import { WideTable } from "../../parts/WideTable.tsx"
import { tokenCost } from "./tokenCost.ts"

type Call = Records["RequestOut"]

interface RequestDetailProps {
  readonly requestId: string
  /** Of its headings. */
  readonly level: 2 | 3
}

/** Why this model, what happened, and what it has cost. */
export const RequestDetail = ({ requestId, level }: RequestDetailProps) => {
  const query = useQuery(request(requestId))
  return (
    <Loaded query={query} height={480}>
      {(call) => (
        <Stack>
          <Group gap="xs">
            <Status state={call.status} />
            <CopyText label="Request id" text={call.id} />
            <Text size="sm" c="dimmed">
              {dateTime(call.started_at)}
            </Text>
          </Group>
          <Facts call={call} />
          <Level value={level}>
            <WhyThisModel call={call} />
            <Trail call={call} />
            <Money call={call} />
          </Level>
        </Stack>
      )}
    </Loaded>
  )
}

const Facts = ({ call }: { readonly call: Call }) => (
  <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
    <Fact label="Requested" value={call.requested_model} />
    <Fact label={hasFailed(call) ? "Last tried" : "Answered"} value={call.model ?? "nobody"} />
    <Fact label="First content" value={seconds(call.first_content_ms)} />
    <Fact label="Total" value={seconds(call.latency_ms)} />
    <Fact label="Tokens in" value={count(call.usage?.prompt_tokens)} />
    <Fact label="Tokens out" value={count(call.usage?.completion_tokens)} />
    <Fact label="Cached" value={count(call.usage?.prompt_tokens_details.cached_tokens)} />
    <Fact label="Cost" value={cost(call.cost)} />
    <Fact label="Endpoint" value={`${call.endpoint ?? "—"}${call.stream === true ? ", streamed" : ""}`} />
    <Fact label="Routing" value={call.routing_config ?? "none"} />
    <Fact label="Policy" value={call.policy_version === null ? "—" : `v${call.policy_version}`} />
    <div>
      <Text size="xs" c="dimmed">
        Key
      </Text>
      <TextLink to="/p/$projectId/keys" params={{ projectId: call.project_id }} search={{ key: call.key_id }}>
        {keyName(call)}
      </TextLink>
    </div>
  </SimpleGrid>
)

const Fact = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <div>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text size="sm" className="figures" style={{ overflowWrap: "anywhere" }}>
      {value}
    </Text>
  </div>
)

const Level = createContext<2 | 3>(2)

const Part = ({ children, title }: { readonly title: string; readonly children: React.ReactNode }) => (
  <Box>
    <Title order={useContext(Level)} size="h6" mb={4}>
      {title}
    </Title>
    {children}
  </Box>
)

/** The pool in rank order, with what these tokens would have cost at each of its models. */
const WhyThisModel = ({ call }: { readonly call: Call }) => {
  const models = useQuery(catalog(call.project_id)).data ?? []
  const tried = new Map(call.attempts.map(({ model, status }) => [model, status]))
  return (
    <Part title={call.model === null ? "Which models" : `Why ${call.model}`}>
      <Text size="sm" mb="xs">
        {reasonText(call.reason)}
        {call.alpha === null ? "" : ` · alpha ${call.alpha.toFixed(2)}`}
        {call.routing_config === null ? "" : ` · routing configuration ${call.routing_config}`}
      </Text>
      <WideTable label="Models in rank order" minWidth={560}>
        <Table fz="sm" className="figures">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Ranked</Table.Th>
              <Table.Th>Model</Table.Th>
              <Table.Th ta="right">Quality</Table.Th>
              <Table.Th ta="right">These tokens would have cost</Table.Th>
              <Table.Th>Ended</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {call.candidate_pool.models.map((id, index) => {
              const model = models.find((each) => each.id === id)
              const prices = model?.prices
              const isAnswer = id === call.model && call.status === "success"
              return (
                <Table.Tr key={id}>
                  <Table.Td>{index + 1}</Table.Td>
                  <Table.Td fw={isAnswer ? 600 : undefined}>{id}</Table.Td>
                  <Table.Td ta="right">{model === undefined ? "—" : model.quality.toFixed(2)}</Table.Td>
                  <Table.Td ta="right">
                    {isAnswer
                      ? `${cost(call.cost)} charged`
                      : call.usage === null || prices === undefined || prices === null
                        ? "—"
                        : `≈ ${money(tokenCost(call.usage, prices))}`}
                  </Table.Td>
                  <Table.Td>{isAnswer ? "answered" : tried.has(id) ? `tried: ${tried.get(id)}` : ""}</Table.Td>
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed" mt={4}>
        At today's prices, for the same number of tokens.
      </Text>
      <Excluded of={call.excluded} />
    </Part>
  )
}

/** What could not be chosen, by the reason. */
const Excluded = ({ of }: { readonly of: Call["excluded"] }) => (
  <Text size="sm" mt="xs" data-testid="excluded">
    Excluded: {of === null ? "not recorded for this call" : exclusionList(of) || "no model"}
  </Text>
)

const Trail = ({ call }: { readonly call: Call }) => (
  <Part title="Attempts">
    {call.attempts.length === 0 ? <Text size="sm">No provider was called.</Text> : null}
    <Stack gap={6} component="ol" m={0} pl="md">
      {call.attempts.map((attempt, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt has no id, and the list does not change
        <Text size="sm" component="li" key={index}>
          <span className="chip" data-kind={attempt.status === "success" ? "ok" : "failed"}>
            {attempt.status === "success" ? "ok" : (attempt.error?.code ?? attempt.status)}
          </span>
          {attempt.model} · {seconds(attempt.latency_ms)} · {cost(attempt.cost)}
          {attempt.error?.message === null || attempt.error === null ? null : (
            <Text span size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {" "}
              {attempt.error.message}
            </Text>
          )}
        </Text>
      ))}
    </Stack>
    {call.error === null ? null : (
      <Text size="sm" mt="xs">
        Ended with <span className="mono">{call.error.code}</span>: {call.error.message}
      </Text>
    )}
  </Part>
)

const hasFailed = ({ status }: Call): boolean => status === "error" || status === "timeout"

const basisOf = (call: Call): string => {
  if (hasFailed(call) && call.cost.amount_microusd === 0) return "charged: a call that fails costs nothing"
  return call.cost.basis === "charged"
    ? "charged, from the usage that the provider reported"
    : "estimated: counted by the gateway"
}

const Money = ({ call }: { readonly call: Call }) => (
  <Part title="Money">
    {call.held_microusd === null ? null : (
      <Text size="sm" className="figures" data-testid="hold">
        Held {money(call.held_microusd)} → settled {cost(call.cost)} → released{" "}
        {money(Math.max(0, call.held_microusd - call.cost.amount_microusd))}
      </Text>
    )}
    <Text size="sm" className="figures">
      {cost(call.cost)} {basisOf(call)}, settled {dateTime(call.ended_at)}.
    </Text>
    {call.baseline === null ? null : (
      <Text size="sm" className="figures">
        ≈ {money(call.baseline.amount_microusd)} at {call.baseline.model}, the best of its models, at the prices of its
        time.
      </Text>
    )}
  </Part>
)
