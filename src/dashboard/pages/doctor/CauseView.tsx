import { Group, Progress, Stack, Text, Title } from "@mantine/core"
import { counted, money, percent } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { Facts } from "./Facts.tsx"
import { Prose } from "./Prose.tsx"
import type { Cause } from "./queries.ts"

interface CauseViewProps {
  readonly cause: Cause
  /** What the calls that were read cost. */
  readonly whole: number
  /** What the calls that those which were read are a sample of cost in 30 days. */
  readonly monthly: number
  readonly projectId: string
}

const tiers: Readonly<Record<string, string>> = {
  exact: "exact: counted from the ledger",
  rebilled: "from bills computed again",
  hypothesis: "hypothesis: not in the totals",
  info: "no saving"
}
const owners: Readonly<Record<string, string>> = {
  client: "your application",
  gateway: "this gateway",
  provider: "the provider"
}

/** One cause: its amount with its lower bound, which is the darker part of the bar, and calls that show it. */
export const CauseView = ({ cause, monthly, projectId, whole }: CauseViewProps) => {
  const isSure = cause.tier === "exact" || cause.tier === "rebilled"
  const amount = isSure ? cause.share_microusd : cause.alone_microusd
  const share = whole === 0 ? 0 : Math.min(1, amount / whole)
  // both are shares of what calls cost: of those that were read, and of all in 30 days
  const atLeast = monthly === 0 ? 0 : Math.min(share, (cause.at_least_microusd ?? 0) / monthly)
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
      <Progress.Root size="md" aria-hidden="true">
        <Progress.Section value={atLeast * 100} color={isSure ? "indigo" : "gray"} />
        <Progress.Section value={(share - atLeast) * 100} color={isSure ? "indigo.3" : "gray.4"} />
      </Progress.Root>
      <Text size="sm" className="figures">
        {cause.at_least_microusd === null
          ? "No lower bound: too little data"
          : `At least ${money(cause.at_least_microusd)} in 30 days`}{" "}
        · {tiers[cause.tier] ?? cause.tier} · {counted(cause.calls, "call")} of{" "}
        {counted(cause.conversations, "conversation")} · confidence {percent(cause.confidence)} · to be changed in{" "}
        {owners[cause.owner] ?? cause.owner}
      </Text>
      <Text size="sm" c="dimmed">
        Not waste if: <Prose text={cause.false_positive_if} />
      </Text>
      {Object.keys(cause.figures).length === 0 ? null : <Facts of={cause.figures} name="figures" />}
      {cause.evidence.length === 0 ? null : (
        <details>
          <summary>
            <Text span size="sm">
              {counted(cause.evidence.length, "example")}
            </Text>
          </summary>
          <Stack gap={2} component="ul" m={0} pl="lg">
            {cause.evidence.map(({ at, sample_id, ...more }) => (
              <li key={`${sample_id} ${at.message}`}>
                <TextLink
                  to="/p/$projectId/analyses"
                  params={{ projectId }}
                  search={{ tab: "samples", sample: sample_id, ...(at.message !== null && { block: at.message }) }}
                >
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
