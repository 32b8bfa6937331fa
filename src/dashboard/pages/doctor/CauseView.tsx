import { Group, Progress, Stack, Text, Title } from "@mantine/core"
import { count, money, percent } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { Facts } from "./Facts.tsx"
import type { Cause } from "./queries.ts"

interface CauseViewProps {
  readonly cause: Cause
  /** What the calls that were read cost. */
  readonly whole: number
  readonly projectId: string
}

const tiers: Readonly<Record<string, string>> = {
  exact: "exact: counted from the ledger",
  rebilled: "from bills computed again",
  hypothesis: "hypothesis: in no sum",
  info: "no saving"
}
const owners: Readonly<Record<string, string>> = {
  client: "your application",
  gateway: "this gateway",
  provider: "the provider"
}

/** One cause: its amount with its lower bound, and calls that show it. */
export const CauseView = ({ cause, projectId, whole }: CauseViewProps) => {
  const isSure = cause.tier === "exact" || cause.tier === "rebilled"
  const amount = isSure ? cause.share_microusd : cause.alone_microusd
  const share = whole === 0 ? 0 : amount / whole
  return (
    <Stack gap={4} component="article" aria-label={cause.title} data-testid="cause">
      <Group justify="space-between" gap="xs">
        <Title order={3} size="h6">
          {cause.title}
        </Title>
        <Text size="sm" fw={600} className="figures">
          {isSure ? "" : "up to "}
          {money(amount)} · {percent(share)}
        </Text>
      </Group>
      <Progress value={Math.min(100, share * 100)} size="md" color={isSure ? "indigo" : "gray"} aria-hidden="true" />
      <Text size="sm" className="figures">
        {cause.at_least_microusd === null
          ? "No lower bound: too few conversations"
          : `At least ${money(cause.at_least_microusd)} in 30 days`}{" "}
        · {tiers[cause.tier] ?? cause.tier} · {count(cause.calls)} calls of {count(cause.conversations)} conversations ·
        confidence {percent(cause.confidence)} · to be changed in {owners[cause.owner] ?? cause.owner}
      </Text>
      <Text size="sm" c="dimmed">
        It is none if: {cause.false_positive_if}.
      </Text>
      {Object.keys(cause.figures).length === 0 ? null : <Facts of={cause.figures} name="figures" />}
      {cause.evidence.length === 0 ? null : (
        <details>
          <summary>
            <Text span size="sm">
              {cause.evidence.length === 1 ? "1 example" : `${cause.evidence.length} examples`}
            </Text>
          </summary>
          <Stack gap={2} component="ul" m={0} pl="lg">
            {cause.evidence.map(({ at, sample_id, ...more }) => (
              <li key={`${sample_id} ${at.message}`}>
                <TextLink to="/p/$projectId/analyses" params={{ projectId }} search={{ tab: "samples", sample: sample_id }}>
                  Call …{sample_id.slice(-8)}
                </TextLink>
                {at.message === null ? "" : `, block ${at.message + 1} of its prompt`}
                {Object.keys(more).length === 0 ? null : <Facts of={more} name="evidence" />}
              </li>
            ))}
          </Stack>
        </details>
      )}
    </Stack>
  )
}
