import type { components } from "../../api/schema.d.ts"

type Records = components["schemas"]

/** Whether money lasts; all amounts in micro-USD. */

/** `low`: calls will soon be refused. `none`: they are. */
export type Room = "enough" | "low" | "none"

/** Part of a limit that is worth a look. */
export const nearLimit = 0.8
/** So many days are the pace of spending. */
export const paceDays = 7
/** What one long answer of a dear model costs: with less in the balance it may be refused, however little was spent before. */
export const minBalanceMicroUsd = 250_000

const dayMillis = 86_400_000

interface Spending {
  readonly summary: Pick<Records["ActivitySummaryOut"], "spend_24h_microusd">
  /** Of `paceDays` days. */
  readonly timeseries: ReadonlyArray<Pick<Records["ActivityTimeseriesPointOut"], "spend_microusd">>
}

/** What a day takes: the last 24 hours, or the mean of the last days where that is more. */
export const dailySpend = ({ summary, timeseries }: Spending): number =>
  Math.max(
    summary.spend_24h_microusd,
    timeseries.reduce((sum, { spend_microusd }) => sum + spend_microusd, 0) / paceDays
  )

/** Low where the balance lasts for less than a day. What running calls hold counts as left: most of it comes back. */
export const roomOfBalance = (
  balance: Pick<Records["BalanceOut"], "available_microusd" | "held_microusd">,
  perDay: number
): Room => {
  const left = leftOf(balance)
  return left <= 0 ? "none" : left < Math.max(perDay, minBalanceMicroUsd) ? "low" : "enough"
}

export const leftOf = (balance: Pick<Records["BalanceOut"], "available_microusd" | "held_microusd">): number =>
  balance.available_microusd + balance.held_microusd

type Limit = Pick<Records["ProjectOut"], "limit_reset" | "spend_limit_microusd" | "spent_microusd">

/** Low where most of the limit is spent, or where the rest lasts neither for a day nor until the limit resets. */
export const roomOfLimit = (
  { limit_reset, spend_limit_microusd: limit, spent_microusd: spent }: Limit,
  perDay: number,
  now: number
): Room => {
  if (limit === null) return "enough"
  if (spent >= limit) return "none"
  const days = limit_reset === null ? 1 : Math.min(1, (nextStart(limit_reset, now) - now) / dayMillis)
  return spent >= nearLimit * limit || limit - spent < perDay * days ? "low" : "enough"
}

/** Periods begin at 00:00 UTC, weeks on Mondays. */
const nextStart = (reset: NonNullable<Limit["limit_reset"]>, now: number): number => {
  const at = new Date(now)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (reset) {
    case "day":
      return Date.UTC(year, month, day + 1)
    case "week":
      return Date.UTC(year, month, day + 7 - ((at.getUTCDay() + 6) % 7))
    case "month":
      return Date.UTC(year, month + 1, 1)
  }
}
