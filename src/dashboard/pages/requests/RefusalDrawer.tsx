import { Group, Progress, Stack, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import type { Records } from "../../api/client.ts"
import { balance, catalog, key, project } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { count, dateTime, keyName, money, seconds } from "../../parts/format.ts"
import { LinkButton } from "../../parts/LinkButton.tsx"
import { WhoCan } from "../../parts/WhoCan.tsx"
import { usePayer } from "../../shell/project.ts"

interface RefusalDrawerProps {
  readonly projectId: string
  readonly refusal: Records["RefusalOut"]
  readonly onClose: () => void
}

/** Why a request was refused, and what would let it through. */
const RefusalDrawer = ({ onClose, projectId, refusal }: RefusalDrawerProps) => (
  <Drawer opened onClose={onClose} title={`${refusal.status} ${refusal.code}`}>
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
          Left of the minute: {count(refusal.remaining_requests)} requests, {count(refusal.remaining_tokens)} prompt
          tokens.
          {refusal.retry_after_ms === null ? "" : ` It fits after ${seconds(refusal.retry_after_ms)}.`}
        </Text>
      ) : null}
      <CopyText label="Request id" text={refusal.id} />
    </Stack>
  </Drawer>
)

const WhyNoMoney = ({
  projectId,
  refusal
}: {
  readonly projectId: string
  readonly refusal: Records["RefusalOut"]
}) => {
  const payer = usePayer(projectId)
  const ofAccount = useQuery(balance)
  const ofProject = useQuery(project(projectId))
  const ofKey = useQuery(key(refusal.key_id))
  const price = useQuery(catalog(projectId)).data?.find(({ id }) => id === refusal.requested_model)?.prices?.output
  const { held_microusd: held, needed_microusd: needed, remaining_microusd: remaining } = refusal
  const affordable =
    price === undefined || price === 0 || remaining === null ? null : Math.floor((remaining * 1_000_000) / price)
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
      {affordable === null || affordable < 1 ? null : (
        <Text size="sm">Or send at most about max_tokens {count(affordable)}, less the prompt.</Text>
      )}
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
