import { Stack, Text } from "@mantine/core"
import { counted, dateTime, money, percent } from "../../parts/format.ts"
import { Facts } from "./Facts.tsx"
import type { Action } from "./queries.ts"

type Receipt = NonNullable<Action["receipt"]>

interface ReceiptViewProps {
  readonly receipt: Receipt
}

/** What was measured of an action since it was applied to a share of the conversations. */
export const ReceiptView = ({ receipt }: ReceiptViewProps) => {
  const { conversations, cost_per_conversation_microusd: cost, guards, measured_at } = receipt
  return (
    <Stack gap={4} role="status" data-testid="receipt">
      <Text size="sm" fw={600}>
        {titleOf(receipt)}
      </Text>
      {receipt.reason === null ? null : <Text size="sm">{receipt.reason}</Text>}
      {measured_at === null ? null : (
        <Text size="sm" className="figures">
          {counted(conversations.treated, "conversation")} with the change at {money(cost.treated)},{" "}
          {counted(conversations.held_out, "conversation")} without it at {money(cost.held_out)}. {savedOf(receipt)}
        </Text>
      )}
      {guards.length === 0 ? null : <Facts of={guards} name="guards" />}
    </Stack>
  )
}

const titleOf = ({ ended_at, ends_at, share, state }: Receipt): string => {
  switch (state) {
    case "running":
      return `Measured with ${percent(share)} of the conversations until ${dateTime(ends_at)}; reverted automatically if it does harm`
    case "reverted":
      return `Reverted automatically ${dateTime(ended_at ?? ends_at)}: it did harm`
    case "final":
      return `Measured until ${dateTime(ended_at ?? ends_at)}; all conversations have the change`
    case "undone":
    case "superseded":
      return `The measurement ended ${dateTime(ended_at ?? ends_at)}`
  }
}

const savedOf = ({
  realised_over_estimated,
  saved_at_least_microusd,
  saved_per_conversation_microusd
}: Receipt): string => {
  if (saved_per_conversation_microusd === null || saved_at_least_microusd === null) {
    return "Too few to say what it saves: 20 of both are needed."
  }
  const saved = `Saved ${money(saved_per_conversation_microusd)} a conversation, at least ${money(saved_at_least_microusd)}`
  return realised_over_estimated === null
    ? `${saved}.`
    : `${saved}: ${percent(realised_over_estimated)} of what was estimated.`
}
