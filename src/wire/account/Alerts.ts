import * as Schema from "effect/Schema"
import { listOf, storedText, within } from "../validation/SchemaParts.ts"
import { discriminator } from "./Discriminator.ts"
import { strict } from "./Strict.ts"
import { timestamp, timestampOrNull } from "./Times.ts"

/** The records of `/api/projects/{id}/alerts`. */

const money = (description: string) =>
  Schema.NonNegativeInt.annotations({ description: `${description}, in micro-USD.` })
const moneyOrNull = (description: string) =>
  Schema.NullOr(Schema.NonNegativeInt).annotations({ description: `${description}, in micro-USD; null: no limit.` })

const maxPercent = 100

const LimitThreshold = strict({
  type: discriminator("limit_percent", "A percentage of the project's spend limit."),
  percent: within({ type: "integer", minimum: 1, maximum: maxPercent }).annotations({
    description: `Percentage of the limit, 1 to ${maxPercent}, counted from the start of the limit's reset period. Has no effect without a limit.`
  })
})

const SpendThreshold = strict({
  type: discriminator("spend", "An amount of spend, with or without a spend limit."),
  amount_microusd: within({ type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }).annotations({
    description: "Spend in one period at which the threshold is reached, in micro-USD, at least 1."
  }),
  period: Schema.Literal("day", "week", "month").annotations({
    description: "Period of the amount, from 00:00 UTC; a week starts on Monday."
  })
})

export const AlertThreshold = Schema.Union(LimitThreshold, SpendThreshold).annotations({
  identifier: "AlertThreshold",
  description:
    "Reached at most once per period, even if the amount was spent before the threshold was set. An amount that is reached just before its period ends may be told up to an hour after it."
})
export type AlertThreshold = typeof AlertThreshold.Type

const maxThresholds = 20
const maxUrlCharacters = 2_000

const url =
  "https only, with a public address. The body is an AlertNotification, signed as in Standard Webhooks: `webhook-signature` is `v1,` and the base64 HMAC-SHA256, under the secret, of `<webhook-id>.<webhook-timestamp>.<body>`."

const Thresholds = listOf(AlertThreshold, { max: maxThresholds })

export const UpdateAlertsRequest = strict({
  webhook_url: Schema.NullOr(storedText(maxUrlCharacters)).annotations({
    description: `URL that is notified when a threshold is reached; null: events are only listed here. ${url}`
  }),
  thresholds: Thresholds.annotations({ description: `At most ${maxThresholds} thresholds, without duplicates.` }),
  rotate_secret: Schema.optionalWith(Schema.Boolean, { default: () => false, exact: true }).annotations({
    description: "Whether to rotate the signing secret; a new URL always gets a new secret."
  })
}).annotations({ identifier: "UpdateAlertsRequest" })
export type UpdateAlertsRequest = typeof UpdateAlertsRequest.Type

const deliveryStatuses = ["pending", "delivered", "failed", "not_sent"] as const

const deliveryErrors =
  "`status_<n>`: the URL responded with this status, which is not 2xx. Otherwise `invalid_url`, `forbidden_address` (not public), `unresolved`, `unreachable`, `timeout` (5 s), or `secret_unreadable` (sealed under a master key that is no longer available)."

/** What a threshold was reached with. */
const reached = {
  id: Schema.UUID.annotations({ description: "Id of the event, the same in every delivery attempt." }),
  threshold: AlertThreshold,
  period_start: timestampOrNull("Start of the period; null for a limit that never resets."),
  spent_microusd: money("Spent in the period at the time of detection"),
  limit_microusd: moneyOrNull("The project's spend limit at that time"),
  fired_at: timestamp("When it was detected, within about 10 s.")
}

export const AlertEventOut = Schema.Struct({
  ...reached,
  delivery: Schema.Struct({
    status: Schema.Literal(...deliveryStatuses).annotations({
      description: "pending: being sent, or to be retried. failed: no longer retried. not_sent: there was no URL."
    }),
    attempts: Schema.NonNegativeInt.annotations({ description: "Number of delivery attempts." }),
    last_error: Schema.NullOr(Schema.String).annotations({
      description: `Why the last attempt failed; otherwise null. ${deliveryErrors}`
    }),
    delivered_at: timestampOrNull("When the URL responded with a 2xx status; null until then.")
  }).annotations({ description: "Delivery of the notification." })
}).annotations({ identifier: "AlertEventOut", description: "A threshold that was reached." })
export type AlertEventOut = typeof AlertEventOut.Type

export const AlertsOut = Schema.Struct({
  webhook_url: Schema.NullOr(Schema.String).annotations({
    description: `URL that events are sent to; viewers see only its origin. ${url}`
  }),
  webhook_secret: Schema.NullOr(Schema.String).annotations({
    description: "Signing secret, as `whsec_` and base64; shown only in the response that created it, otherwise null."
  }),
  thresholds: Schema.Array(AlertThreshold).annotations({
    description: "The thresholds, in the order in which they were set."
  }),
  events: Schema.Array(AlertEventOut).annotations({ description: "The newest 20 events, newest first." })
}).annotations({ identifier: "AlertsOut", description: "Spend alerts of a project." })
export type AlertsOut = typeof AlertsOut.Type

/** The body that is sent to the webhook URL. */
export const AlertNotification = Schema.Struct({
  type: Schema.Literal("alert.threshold_reached").annotations({ description: "What happened." }),
  timestamp: timestamp("When it was detected."),
  data: Schema.Struct({
    ...reached,
    project_id: Schema.UUID.annotations({ description: "Id of the project." }),
    project_name: Schema.String.annotations({ description: "Name of the project." })
  }).annotations({ description: "The event, and its project." })
}).annotations({ identifier: "AlertNotification" })
