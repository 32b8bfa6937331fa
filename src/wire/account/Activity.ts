import * as Schema from "effect/Schema"
import { sentCount } from "./SentCount.ts"

/** The records of `GET /api/projects/{id}/activity`. A call counts at the time when it ended and its charge was written. */

const count = (description: string) => Schema.NonNegativeInt.annotations({ description })
const spend = (description: string) =>
  Schema.NonNegativeInt.annotations({ description: `${description}, in micro-USD.` })

const ActivitySummaryOut = Schema.Struct({
  requests_24h: count("Calls that ended in the last 24 hours."),
  tokens_24h: count("Sum of their prompt and completion tokens."),
  spend_24h_microusd: spend("Cost of these calls"),
  error_rate_pct: Schema.Number.annotations({
    description: "Percentage of these calls that ended in an error or a timeout, to one decimal place; 0 without calls."
  })
}).annotations({ identifier: "ActivitySummaryOut", description: "The 24 hours before the request." })

const ActivityTimeseriesPointOut = Schema.Struct({
  date: Schema.String.annotations({
    description:
      "The day in UTC as `YYYY-MM-DD`; with `granularity` `hour` the start of the hour, as `YYYY-MM-DDTHH:00:00.000Z`."
  }),
  requests: count("Calls that ended in this interval."),
  spend_microusd: spend("Cost of these calls")
}).annotations({ identifier: "ActivityTimeseriesPointOut" })

const SavingsByModelOut = Schema.Struct({
  model: Schema.String.annotations({ description: "Id of the model that the calls are compared with." }),
  count: count("Calls that are compared with this model."),
  spend_microusd: spend("Cost of these calls"),
  baseline_microusd: spend("Cost of the same tokens with that model")
}).annotations({ identifier: "SavingsByModelOut" })

export const SavingsOut = Schema.Struct({
  count: count("Calls for which the router chose a model and that have usage."),
  spend_microusd: spend("Cost of these calls"),
  baseline_microusd: spend("Cost of the same tokens with the best model in the pool of each call"),
  saved_microusd: Schema.Int.annotations({
    description: "The difference, in micro-USD; negative where the calls cost more."
  }),
  by_model: Schema.Array(SavingsByModelOut).annotations({
    description: "The same by the model compared with, by descending number of calls."
  })
}).annotations({
  identifier: "SavingsOut",
  description:
    "Estimated savings from routing; an estimate because the best model would have used a different number of tokens. Pinned calls are not included."
})
export type SavingsOut = typeof SavingsOut.Type

const ActivityByProviderOut = Schema.Struct({
  provider: Schema.String.annotations({ description: "Provider id." }),
  count: count("Calls that it answered, and failed calls whose last attempt was there.")
}).annotations({ identifier: "ActivityByProviderOut" })

const sums = {
  count: count("Calls in the requested days."),
  tokens: count("Sum of their prompt and completion tokens."),
  spend_microusd: spend("Cost of these calls")
}

const ActivityByModelOut = Schema.Struct({
  model: Schema.String.annotations({ description: "Id of the model that answered, or was tried last." }),
  ...sums
}).annotations({ identifier: "ActivityByModelOut" })

const ActivityByKeyOut = Schema.Struct({
  key_id: Schema.UUID.annotations({ description: "Id of the project key." }),
  name: Schema.NullOr(Schema.String).annotations({
    description: "Name of the key, also of a deleted one; null for a key that is no longer stored."
  }),
  ...sums
}).annotations({ identifier: "ActivityByKeyOut" })

export const Granularity = Schema.Literal("day", "hour").annotations({
  description: "Interval of one point of `timeseries`."
})
export type Granularity = typeof Granularity.Type

export const ActivityDataOut = Schema.Struct({
  summary: ActivitySummaryOut,
  timeseries: Schema.Array(ActivityTimeseriesPointOut).annotations({
    description:
      "One point per UTC day or hour of the requested days up to now, oldest first, including those without calls."
  }),
  by_provider: Schema.Array(ActivityByProviderOut).annotations({
    description: "For the same days, by descending number of calls. Calls that reached no provider are not included."
  }),
  by_model: Schema.Array(ActivityByModelOut).annotations({
    description: "For the same days, by descending spend. Calls that reached no model are not included."
  }),
  by_key: Schema.Array(ActivityByKeyOut).annotations({ description: "For the same days, by descending spend." }),
  granularity: Granularity
}).annotations({
  identifier: "ActivityDataOut",
  description: "Usage and spend of a project; equal to the ledger's rows at the time of the request."
})
export type ActivityDataOut = typeof ActivityDataOut.Type

/** A year; the sums of days are kept forever. */
export const maxDays = 366
/** The sums of hours are kept a day longer. */
export const maxDaysOfHours = 31

export const Days = sentCount(maxDays)
