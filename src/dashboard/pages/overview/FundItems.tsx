import { List } from "@mantine/core"
import type { ReactNode } from "react"
import type { Records } from "../../api/client.ts"
import { money, percent } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { WhoCan } from "../../parts/WhoCan.tsx"
import { leftOf, minBalanceMicroUsd, roomOfBalance, roomOfLimit } from "./funds.ts"
import type { Funds } from "./useFunds.ts"

type Refusal = Records["RefusalOut"]

/** What a person may want to do about money, before calls are refused for lack of it and after. */
export const fundItems = (funds: Funds, refusedToday: ReadonlyArray<Refusal>, now: number): Array<ReactNode> => {
  const ofBalance = roomOfBalance(funds.balance, funds.accountPerDay)
  const ofLimit = roomOfLimit(funds.project, funds.projectPerDay, now)
  const isShort = refusedToday.some(({ code }) => code === "insufficient_balance")
  return [
    ...(funds.payer === "own" && ofBalance !== "enough" ? [<OwnBalance key="balance" funds={funds} />] : []),
    ...(funds.payer === "other" && isShort ? [<OtherBalance key="balance" projectId={funds.project.id} />] : []),
    ...(ofLimit === "enough" ? [] : [<Limit key="limit" funds={funds} isUsedUp={ofLimit === "none"} />])
  ]
}

const OwnBalance = ({ funds: { accountPerDay, balance } }: { readonly funds: Funds }) => {
  const left = leftOf(balance)
  return (
    <List.Item>
      {left <= 0
        ? "The balance is used up: calls are refused (402)."
        : `${money(left)} of the balance is left, ${
            accountPerDay < minBalanceMicroUsd
              ? "barely enough for one long answer"
              : `less than the last days took in one (${money(Math.round(accountPerDay))})`
          }.`}{" "}
      <TextLink to="/credits" search={{ buy: "1" }}>
        Add credit
      </TextLink>
    </List.Item>
  )
}

/** Only the owner of an account sees its balance; that it does not suffice, everybody whose calls are refused. */
const OtherBalance = ({ projectId }: { readonly projectId: string }) => (
  <List.Item>
    The balance that pays for this project did not cover calls of the last 24 hours.{" "}
    <WhoCan projectId={projectId} of={({ is_account_owner }) => is_account_owner} may="add credit" />
  </List.Item>
)

const Limit = ({ funds, isUsedUp }: { readonly funds: Funds; readonly isUsedUp: boolean }) => {
  const { id, limit_reset: reset, role, spend_limit_microusd: limit, spent_microusd: spent } = funds.project
  const amount = `${money(limit)}${reset === null ? "" : ` a ${reset}`}`
  return (
    <List.Item>
      {isUsedUp
        ? `The project's limit of ${amount} is used up: calls are refused (402)${reset === null ? "" : ` until the next ${reset}`}.`
        : `The project has spent ${percent(spent / Math.max(1, limit ?? 0))} of its limit of ${amount}; a day takes ${money(Math.round(funds.projectPerDay))}.`}{" "}
      {role === "viewer" ? (
        <WhoCan projectId={id} of={(member) => member.role !== "viewer"} may="change it" />
      ) : (
        <TextLink to="/settings">Change the limit</TextLink>
      )}
    </List.Item>
  )
}
