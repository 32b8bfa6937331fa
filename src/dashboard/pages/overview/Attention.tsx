import { List, Text } from "@mantine/core"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { catalog, newestKeys, refusals } from "../../api/queries.ts"
import { Block, Waiting } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { count, counted, percent, seconds } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { fundItems } from "./FundItems.tsx"
import { nearLimit } from "./funds.ts"
import { useFunds } from "./useFunds.ts"

const dayMillis = 86_400_000

/** What a person may want to act on; loaded after the figures of the page. */
export const Attention = ({ isReady, projectId }: { readonly projectId: string; readonly isReady: boolean }) => {
  const ofKeys = useQuery({ ...newestKeys(projectId), enabled: isReady })
  const refused = useInfiniteQuery({ ...refusals(projectId), enabled: isReady })
  const models = useQuery({ ...catalog(projectId), enabled: isReady })
  const funds = useFunds(projectId, isReady)
  const error = ofKeys.error ?? refused.error ?? models.error ?? funds.error
  if (error !== null) {
    return (
      <Block title="Attention">
        <Failure
          error={error}
          retry={() => Promise.all([ofKeys.refetch(), refused.refetch(), models.refetch(), funds.refetch()])}
        />
      </Block>
    )
  }
  if (
    ofKeys.data === undefined ||
    refused.data === undefined ||
    models.data === undefined ||
    funds.data === undefined
  ) {
    return (
      <Block title="Attention">
        <Waiting height={80} />
      </Block>
    )
  }

  const now = Date.now()
  const today = refused.data.pages
    .flatMap((page) => page.items)
    .filter(({ refused_at }) => Date.parse(refused_at) > now - dayMillis)
  const items: Array<ReactNode> = fundItems(funds.data, today, now)
  for (const key of ofKeys.data.items) {
    const share = key.spend_limit_microusd === null ? 0 : key.spent_microusd / Math.max(1, key.spend_limit_microusd)
    if (!key.is_active || share < nearLimit) continue
    items.push(
      <List.Item key={key.id}>
        Key{" "}
        <TextLink to="/p/$projectId/keys" params={{ projectId }} search={{ key: key.id }}>
          {key.name}
        </TextLink>{" "}
        has spent {percent(share)} of its limit.
      </List.Item>
    )
  }
  if (today.length > 0) {
    items.push(
      <List.Item key="refused">
        <TextLink to="/p/$projectId/requests" params={{ projectId }} search={{ tab: "refused" }}>
          {refused.hasNextPage ? `More than ${today.length} requests` : counted(today.length, "request")}
        </TextLink>{" "}
        {today.length === 1 && !refused.hasNextPage ? "was" : "were"} refused in the last 24 hours.
      </List.Item>
    )
  }
  for (const { health, id } of models.data) {
    if (health.open_for_ms <= 0) continue
    items.push(
      <List.Item key={id}>
        {id} fails and is not tried for {seconds(health.open_for_ms)}.
      </List.Item>
    )
  }
  const { items: newest, total } = ofKeys.data
  const areSome = total > newest.length
  const noKey = areSome ? `none of the newest ${newest.length} keys` : "no key"
  return (
    <Block title="Attention">
      {items.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing needs attention: {funds.data.payer === "own" ? "the balance lasts for a day and more, " : ""}the
          project is not near its limit, {noKey} is near its limit, nothing was refused in the last 24 hours, every
          model is tried.
        </Text>
      ) : (
        <>
          <List size="sm" spacing={4}>
            {items}
          </List>
          {areSome ? (
            <Text size="xs" c="dimmed">
              The limits of the newest {newest.length} of {count(total)} keys are looked at.
            </Text>
          ) : null}
        </>
      )}
    </Block>
  )
}
