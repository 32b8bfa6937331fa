import * as Schema from "effect/Schema"
import { listOf, storedText } from "../validation/SchemaParts.ts"
import { strict } from "./Strict.ts"
import { timestamp, timestampOrNull } from "./Times.ts"

/** The records of `/api/projects/{id}/alerts`. */

const money = (description: string) =>
  Schema.NonNegativeInt.annotations({ description: `${description}, in micro-USD.` })
const moneyOrNull = (description: string) =>
  Schema.NullOr(Schema.NonNegativeInt).annotations({ description: `${description}, in micro-USD; null: no limit.` })

const maxPercent = 100

const LimitThreshold = strict({
  type: Schema.Literal("limit_percent").annotations({ description: "A part of the project's spend limit." }),
  percent: Schema.Int.pipe(Schema.between(1, maxPercent)).annotations({
    description: `Percent of the limit, 1 to ${maxPercent}. Counts from the start of the limit's reset period. Without a limit nothing happens.`
  })
})

const SpendThreshold = strict({
  type: Schema.Literal("spend").annotations({ description: "An amount, with or without a limit." }),
  amount_microusd: Schema.Int.pipe(Schema.between(1, Number.MAX_SAFE_INTEGER)).annotations({
    description: "What the project may spend in a period before it is told, in micro-USD, at least 1."
  }),
  period: Schema.Literal("day", "week", "month").annotations({
    description: "What the amount is for, from 00:00 UTC; a week begins on Monday."
  })
})

export const AlertThreshold = Schema.Union(LimitThreshold, SpendThreshold).annotations({
  identifier: "AlertThreshold",
  description: "Reached once in each period, also when the amount was spent before the threshold was set."
})
export type AlertThreshold = typeof AlertThreshold.Type

const maxThresholds = 20
const maxUrlCharacters = 2_000

const url =
  "https only, to a public address. The body is an AlertNotification, signed as in Standard Webhooks: `webhook-signature` is `v1,` and the base64 HMAC-SHA256, under the secret, of `<webhook-id>.<webhook-timestamp>.<body>`."

const Thresholds = listOf(AlertThreshold, { max: maxThresholds })

export const UpdateAlertsRequest = strict({
  webhook_url: Schema.NullOr(storedText(maxUrlCharacters)).annotations({
    description: `Where to send what was reached; null: it is only listed here. ${url}`
  }),
  thresholds: Thresholds.annotations({ description: `The thresholds, ${maxThresholds} at most, each once.` }),
  rotate_secret: Schema.optionalWith(Schema.Boolean, { default: () => false, exact: true }).annotations({
    description: "Whether to make another secret; a new URL gets one in any case."
  })
}).annotations({ identifier: "UpdateAlertsRequest" })
export type UpdateAlertsRequest = typeof UpdateAlertsRequest.Type

const deliveryStatuses = ["pending", "delivered", "failed", "not_sent"] as const

const deliveryErrors =
  "`status_<n>`: the URL answered with this status, which is not 2xx. Otherwise `invalid_url`, `forbidden_address` (not public), `unresolved`, `unreachable`, `timeout` (5 s), or `secret_unreadable` (sealed under a master key that is gone)."

/** What a threshold was reached with. */
const reached = {
  id: Schema.UUID.annotations({ description: "Id of the event: the same in every attempt to deliver it." }),
  threshold: AlertThreshold,
  period_start: timestampOrNull("Start of the period; null for a limit that is for ever."),
  spent_microusd: money("Spent in the period when that was noticed"),
  limit_microusd: moneyOrNull("The project's spend limit at that time"),
  fired_at: timestamp("When it was noticed, within about 10 s.")
}

export const AlertEventOut = Schema.Struct({
  ...reached,
  delivery: Schema.Struct({
    status: Schema.Literal(...deliveryStatuses).annotations({
      description: "pending: is sent, or again later. failed: given up. not_sent: there was no URL."
    }),
    attempts: Schema.NonNegativeInt.annotations({ description: "How often it was sent." }),
    last_error: Schema.NullOr(Schema.String).annotations({
      description: `Why the last attempt failed; null if it did not. ${deliveryErrors}`
    }),
    delivered_at: timestampOrNull("When the URL answered with a 2xx status; null before.")
  }).annotations({ description: "What came of sending it." })
}).annotations({ identifier: "AlertEventOut", description: "A threshold that was reached." })
export type AlertEventOut = typeof AlertEventOut.Type

export const AlertsOut = Schema.Struct({
  webhook_url: Schema.NullOr(Schema.String).annotations({
    description: `Where events are sent; for viewers only its origin. ${url}`
  }),
  webhook_secret: Schema.NullOr(Schema.String).annotations({
    description: "Only in the response that made it, as `whsec_` and base64: keep it. Otherwise null."
  }),
  thresholds: Schema.Array(AlertThreshold).annotations({ description: "In the order in which they were given." }),
  events: Schema.Array(AlertEventOut).annotations({ description: "What was reached, the newest 20 first." })
}).annotations({ identifier: "AlertsOut", description: "When a project is told what it has spent." })
export type AlertsOut = typeof AlertsOut.Type

/** The body that is sent to the webhook URL. */
export const AlertNotification = Schema.Struct({
  type: Schema.Literal("alert.threshold_reached").annotations({ description: "What happened." }),
  timestamp: timestamp("When it was noticed."),
  data: Schema.Struct({
    ...reached,
    project_id: Schema.UUID.annotations({ description: "Id of the project." }),
    project_name: Schema.String.annotations({ description: "Name of the project." })
  }).annotations({ description: "The event, and its project." })
}).annotations({ identifier: "AlertNotification" })
