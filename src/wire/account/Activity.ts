import * as Schema from "effect/Schema"
import { sentCount } from "./SentCount.ts"

/** The records of `GET /api/projects/{id}/activity`. A call counts at the time when it ended and its charge was written. */

const count = (description: string) => Schema.NonNegativeInt.annotations({ description })
const spend = (description: string) =>
  Schema.NonNegativeInt.annotations({ description: `${description}, in micro-USD.` })

const ActivitySummaryOut = Schema.Struct({
  requests_24h: count("Calls that ended in the last 24 hours."),
  tokens_24h: count("Their prompt and completion tokens together."),
  spend_24h_microusd: spend("What they cost"),
  error_rate_pct: Schema.Number.annotations({
    description: "Errors and timeouts in percent of these calls, to one decimal; 0 without calls."
  })
}).annotations({ identifier: "ActivitySummaryOut", description: "The last 24 hours, to the moment of the request." })

const ActivityTimeseriesPointOut = Schema.Struct({
  date: Schema.String.annotations({
    description:
      "The day in UTC as `YYYY-MM-DD`; with `granularity` `hour` the start of the hour, as `YYYY-MM-DDTHH:00:00.000Z`."
  }),
  requests: count("Calls that ended then."),
  spend_microusd: spend("What they cost")
}).annotations({ identifier: "ActivityTimeseriesPointOut" })

const SavingsByModelOut = Schema.Struct({
  model: Schema.String.annotations({ description: "Id of the model that the calls are compared with." }),
  count: count("Calls that are compared with it."),
  spend_microusd: spend("What they cost"),
  baseline_microusd: spend("What their tokens would have cost at that model")
}).annotations({ identifier: "SavingsByModelOut" })

export const SavingsOut = Schema.Struct({
  count: count("Calls that the router chose a model for and that have used something."),
  spend_microusd: spend("What they cost"),
  baseline_microusd: spend("What their tokens would have cost at the best model that each could have gone to"),
  saved_microusd: Schema.Int.annotations({
    description: "The difference, in micro-USD; negative where the calls cost more."
  }),
  by_model: Schema.Array(SavingsByModelOut).annotations({ description: "The same by that model, most calls first." })
}).annotations({
  identifier: "SavingsOut",
  description:
    "What routing has saved, estimated: the best model would have used other numbers of tokens. Calls that name their model are not in it."
})
export type SavingsOut = typeof SavingsOut.Type

const ActivityByProviderOut = Schema.Struct({
  provider: Schema.String.annotations({ description: "Provider id." }),
  count: count("Calls that it answered, and failed ones that were last tried there.")
}).annotations({ identifier: "ActivityByProviderOut" })

const sums = {
  count: count("Calls of the days."),
  tokens: count("Their prompt and completion tokens together."),
  spend_microusd: spend("What they cost")
}

const ActivityByModelOut = Schema.Struct({
  model: Schema.String.annotations({ description: "Id of the model that answered, or that was tried last." }),
  ...sums
}).annotations({ identifier: "ActivityByModelOut" })

const ActivityByKeyOut = Schema.Struct({
  key_id: Schema.UUID.annotations({ description: "Id of the project key." }),
  name: Schema.NullOr(Schema.String).annotations({ description: "Its name; null for a key that is no longer listed." }),
  ...sums
}).annotations({ identifier: "ActivityByKeyOut" })

export const Granularity = Schema.Literal("day", "hour").annotations({
  description: "What one point of `timeseries` covers."
})
export type Granularity = typeof Granularity.Type

export const ActivityDataOut = Schema.Struct({
  summary: ActivitySummaryOut,
  timeseries: Schema.Array(ActivityTimeseriesPointOut).annotations({
    description:
      "One point for each UTC day, or hour, of the days up to now, the oldest first; those without calls included."
  }),
  by_provider: Schema.Array(ActivityByProviderOut).annotations({
    description: "Of the same days, the most calls first. Calls that reached no provider are not in it."
  }),
  by_model: Schema.Array(ActivityByModelOut).annotations({
    description: "Of the same days, the highest spend first. Calls that reached no model are not in it."
  }),
  by_key: Schema.Array(ActivityByKeyOut).annotations({ description: "Of the same days, the highest spend first." }),
  granularity: Granularity
}).annotations({
  identifier: "ActivityDataOut",
  description: "What a project has called and spent; equal to the ledger's rows at the time of the request."
})
export type ActivityDataOut = typeof ActivityDataOut.Type

/** A year; the sums of days are kept for ever. */
export const maxDays = 366
/** The sums of hours are kept a day longer. */
export const maxDaysOfHours = 31

export const Days = sentCount(maxDays)
