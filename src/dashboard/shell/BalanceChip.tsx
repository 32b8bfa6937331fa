import { Text, VisuallyHidden } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { balance } from "../api/queries.ts"
import { money } from "../parts/format.ts"
import { LinkButton } from "../parts/LinkButton.tsx"

/** What the account can still use, on every page. */
export const BalanceChip = () => {
  const { data } = useQuery(balance)
  return (
    <LinkButton
      to="/credits"
      variant="default"
      size="xs"
      className="figures"
      title="Available, and held by running calls"
    >
      <VisuallyHidden>Balance and credits: </VisuallyHidden>
      <span data-testid="available">{money(data?.available_microusd)}</span>
      {data !== undefined && data.held_microusd > 0 ? (
        <Text span size="xs" c="dimmed" ml={6} visibleFrom="sm">
          {money(data.held_microusd)} held
        </Text>
      ) : null}
    </LinkButton>
  )
}
