import { List, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { catalog, keysNearLimit, newestRefusals, seldomMillis } from "../../api/queries.ts"
import { Block, Waiting } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { counted, percent } from "../../parts/format.ts"
import { healthOf, stateOf } from "../../parts/health.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { fundItems } from "./FundItems.tsx"
import { useFunds } from "./useFunds.ts"

const dayMillis = 86_400_000

/** What a person may want to act on; loaded after the figures of the page. */
export const Attention = ({ isReady, projectId }: { readonly projectId: string; readonly isReady: boolean }) => {
  // whatever keeps calls from being answered is among these, as current as the figures of the page
  const refused = useQuery({ ...newestRefusals(projectId), enabled: isReady })
  const seldom = { enabled: isReady, refetchInterval: seldomMillis }
  const ofKeys = useQuery({ ...keysNearLimit(projectId), ...seldom })
  const models = useQuery({ ...catalog(projectId), ...seldom })
  const funds = useFunds(projectId, isReady)
  if (
    ofKeys.data === undefined ||
    refused.data === undefined ||
    models.data === undefined ||
    funds.data === undefined
  ) {
    const error = ofKeys.error ?? refused.error ?? models.error ?? funds.error
    return (
      <Block title="Attention">
        {error === null ? (
          <Waiting height={80} />
        ) : (
          <Failure
            error={error}
            retry={() => Promise.all([ofKeys.refetch(), refused.refetch(), models.refetch(), funds.refetch()])}
          />
        )}
      </Block>
    )
  }

  const now = Date.now()
  const today = refused.data.items.filter(({ refused_at }) => Date.parse(refused_at) > now - dayMillis)
  // older ones follow in the list: of the last 24 hours only where all of these are
  const hasMore = refused.data.has_more && today.length === refused.data.items.length
  const items: Array<ReactNode> = fundItems(funds.data, today, now)
  for (const { id, name, spend_limit_microusd, spent_microusd } of ofKeys.data.items) {
    items.push(
      <List.Item key={id}>
        Key{" "}
        <TextLink to="/p/$projectId/keys" params={{ projectId }} search={{ key: id }}>
          {name}
        </TextLink>{" "}
        has spent {percent(spent_microusd / Math.max(1, spend_limit_microusd ?? 0))} of its limit.
      </List.Item>
    )
  }
  const more = ofKeys.data.total - ofKeys.data.items.length
  if (more > 0) items.push(<List.Item key="more keys">{counted(more, "more key")} near a limit.</List.Item>)
  if (today.length > 0) {
    items.push(
      <List.Item key="refused">
        <TextLink to="/p/$projectId/requests" params={{ projectId }} search={{ tab: "refused" }}>
          {hasMore ? `More than ${today.length} requests` : counted(today.length, "request")}
        </TextLink>{" "}
        {today.length === 1 && !hasMore ? "was" : "were"} refused in the last 24 hours.
      </List.Item>
    )
  }
  for (const model of models.data) {
    if (stateOf(model) === "active") continue
    items.push(
      <List.Item key={model.id}>
        {model.id} {stateOf(model) === "failed" ? "fails and is " : ""}
        {healthOf(model)}:{" "}
        <TextLink to="/p/$projectId/requests" params={{ projectId }} search={{ status: "error", model: model.id }}>
          failed calls
        </TextLink>
      </List.Item>
    )
  }
  return (
    <Block title="Attention">
      {items.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing needs attention: {funds.data.payer === "own" ? "the balance lasts for a day and more, " : ""}the
          project is not near its limit, no key is near its limit, nothing was refused in the last 24 hours, no model
          fails.
        </Text>
      ) : (
        <List size="sm" spacing={4}>
          {items}
        </List>
      )}
    </Block>
  )
}
