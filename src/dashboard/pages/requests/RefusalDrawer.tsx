import { Group, Progress, Stack, Text } from "@mantine/core"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { client, type Records, take } from "../../api/client.ts"
import { balance, everyPage, key, project } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { counted, dateTime, keyName, money, seconds } from "../../parts/format.ts"
import { LinkButton } from "../../parts/LinkButton.tsx"
import { WhoCan } from "../../parts/WhoCan.tsx"
import { usePayer } from "../../shell/project.ts"

type Refusal = Records["RefusalOut"]

/** The API has no request for a single one: it is in the list, or no longer recorded. */
const refusal = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ["refusal", projectId, id],
    queryFn: async ({ signal }) => {
      const all = await everyPage((query) =>
        take(client.GET("/api/projects/{id}/refusals", { params: { path: { id: projectId }, query }, signal }))
      )
      return all.find((each) => each.id === id) ?? null
    },
    // one that is not listed may be listed a moment later
    staleTime: ({ state }) => (state.data === null ? 0 : Number.POSITIVE_INFINITY)
  })

interface RefusalDrawerProps {
  readonly projectId: string
  readonly id: string
  /** As the list has it, as far as that is loaded. */
  readonly listed: Refusal | undefined
  readonly onClose: () => void
}

/** Why a request was refused, and what would let it through. */
const RefusalDrawer = ({ id, listed, onClose, projectId }: RefusalDrawerProps) => {
  const query = useQuery({ ...refusal(projectId, id), enabled: listed === undefined })
  const data = listed ?? query.data
  return (
    <Drawer
      opened
      onClose={onClose}
      title={data === undefined || data === null ? "Refused request" : `${data.status} ${data.code}`}
    >
      <Loaded query={{ ...query, data }} height={160}>
        {(found) =>
          found === null ? (
            <Empty title="There is no such refused request">
              Of a project the last 1,000 are recorded, and of many at once only the newest.
            </Empty>
          ) : (
            <About projectId={projectId} refusal={found} />
          )
        }
      </Loaded>
    </Drawer>
  )
}

interface AboutProps {
  readonly projectId: string
  readonly refusal: Refusal
}

const About = ({ projectId, refusal }: AboutProps) => (
  <Stack>
    <Text>{refusal.message}</Text>
    <Text size="sm" c="dimmed">
      {refusal.requested_model} · key {keyName(refusal)} · {dateTime(refusal.refused_at)}
    </Text>
    {refusal.status === 402 ? <WhyNoMoney projectId={projectId} refusal={refusal} /> : null}
    {refusal.status === 404 ? (
      <Group>
        <LinkButton to="/p/$projectId/policy" params={{ projectId }} variant="default">
          What the policy allows
        </LinkButton>
        <LinkButton to="/p/$projectId/models" params={{ projectId }} variant="default">
          Models
        </LinkButton>
      </Group>
    ) : null}
    {refusal.status === 429 ? (
      <Text size="sm">
        {leftOf(refusal)}
        {refusal.retry_after_ms === null ? "" : `It fits after ${seconds(refusal.retry_after_ms)}.`}
      </Text>
    ) : null}
    <Group>
      <CopyText label="Request id" text={refusal.id} />
    </Group>
  </Stack>
)

/** Of the limits that are counted by the minute; calls at the same time are not. */
const leftOf = ({ remaining_requests: requests, remaining_tokens: tokens }: Refusal): string => {
  const left = [
    ...(requests === null ? [] : [counted(requests, "request")]),
    ...(tokens === null ? [] : [counted(tokens, "prompt token")])
  ]
  return left.length === 0 ? "" : `Left of the minute: ${left.join(", ")}. `
}

const WhyNoMoney = ({ projectId, refusal }: AboutProps) => {
  const payer = usePayer(projectId)
  const ofAccount = useQuery(balance)
  const ofProject = useQuery(project(projectId))
  const ofKey = useQuery(key(refusal.key_id))
  const { held_microusd: held, needed_microusd: needed, remaining_microusd: remaining } = refusal
  return (
    <>
      <Text size="sm">
        It needed {money(needed)}; {money(remaining)} was left in the {refusal.scope ?? "balance"}
        {held === null || held === 0 ? "" : `, beside ${money(held)} that running calls held`}.
      </Text>
      <Text size="xs" c="dimmed" fw={600}>
        Now
      </Text>
      {payer === "own" ? (
        <Loaded query={ofAccount} height={barHeight}>
          {(found) => <Bar name="Balance" spent={found.spent_microusd} limit={found.credited_microusd} />}
        </Loaded>
      ) : null}
      <Loaded query={ofProject} height={barHeight}>
        {({ data }) => <Bar name="Project" spent={data.spent_microusd} limit={data.spend_limit_microusd} />}
      </Loaded>
      <Loaded query={ofKey} height={barHeight}>
        {({ data }) => <Bar name="Key" spent={data.spent_microusd} limit={data.spend_limit_microusd} />}
      </Loaded>
      <Group>
        {refusal.scope === "key" ? (
          <LinkButton to="/p/$projectId/keys" params={{ projectId }} search={{ key: refusal.key_id }}>
            Raise this limit
          </LinkButton>
        ) : refusal.scope === "project" ? (
          <LinkButton to="/settings">Raise this limit</LinkButton>
        ) : payer === "other" ? (
          <Text size="sm">
            The balance of another user pays for this project.{" "}
            <WhoCan projectId={projectId} of={({ is_account_owner }) => is_account_owner} may="add credit" />
          </Text>
        ) : (
          <LinkButton to="/credits" search={{ buy: "1" }}>
            Add credit
          </LinkButton>
        )}
      </Group>
      {refusal.reason === "held" ? (
        <Text size="sm">Or wait: what is held comes back when the running calls end.</Text>
      ) : null}
    </>
  )
}

const barHeight = 32

const Bar = ({
  limit,
  name,
  spent
}: {
  readonly name: string
  readonly spent: number
  readonly limit: number | null
}) => (
  <Stack gap={2} h={barHeight}>
    <Group justify="space-between">
      <Text size="sm">{name}</Text>
      <Text size="sm" className="figures">
        {money(spent)} of {limit === null ? "no limit" : money(limit)}
      </Text>
    </Group>
    <Progress value={limit === null || limit === 0 ? 0 : (100 * spent) / limit} aria-hidden="true" />
  </Stack>
)

export default RefusalDrawer
