import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { periodically } from "../../domain/Periodic.ts"
import type { ActivityDataOut, Granularity, SavingsOut } from "../../wire/account/Activity.ts"
import { type ActivityQuestion, type ActivityRow, ActivityStore, type SavingsRow } from "./ActivityStore.ts"

/** Reads the sums of any project: who may see them is for the program that asks to check. */
export interface ActivityShape {
  /**
   * What the project has called and spent, by the calls that had ended at the time of the query. Days are UTC days, the last one
   * is today; sums by provider, model and key are of the same days.
   */
  readonly of: (
    question: ActivityQuestion & { readonly granularity: Granularity }
  ) => Effect.Effect<ActivityDataOut, StoreUnavailable>
  /** What its calls cost beside the best models that they could have gone to, of the same days. */
  readonly savings: (question: ActivityQuestion) => Effect.Effect<SavingsOut, StoreUnavailable>
}

/** Sums of a project's calls. They agree with the ledger at any time, and stay when the calls themselves are deleted. */
export class Activity extends Context.Tag("gateway/account/Activity")<Activity, ActivityShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<Activity, never, ActivityStore> = Layer.effect(
    this,
    Effect.map(ActivityStore, (store) => ({
      of: ({ granularity, ...question }) =>
        Effect.map(granularity === "day" ? store.byDay(question) : store.byHour(question), (row) =>
          dataOf(row, granularity)
        ),
      savings: (question) => Effect.map(store.savings(question), savingsOf)
    }))
  )
}

const sumUpInterval = Duration.seconds(10)

/** Adds the calls that have ended to the sums, so that few are left to be read one by one. Any number of nodes may do so. */
export const summingUp: Layer.Layer<never, never, ActivityStore> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const store = yield* ActivityStore
    yield* periodically(sumUpInterval, "the activity of projects could not be summed up", sumUpAll(store.sumUp))
  })
)

const sumUpAll = (portion: ActivityStore["Type"]["sumUp"]): Effect.Effect<void, StoreUnavailable> =>
  Effect.asVoid(Effect.repeat(portion, { while: (more) => more }))

const dataOf = (row: ActivityRow, granularity: Granularity): ActivityDataOut => ({
  summary: {
    requests_24h: row.last24Hours.requests,
    tokens_24h: row.last24Hours.tokens,
    spend_24h_microusd: row.last24Hours.spend,
    error_rate_pct: percentOf(row.last24Hours.failures, row.last24Hours.requests)
  },
  timeseries: row.points.map(({ date, requests, spend }) => ({ date, requests, spend_microusd: spend })),
  by_provider: row.providers.map(({ provider, requests }) => ({ provider, count: requests })),
  by_model: row.models.map(({ model, ...sums }) => ({ model, ...sumsOf(sums) })),
  by_key: row.keys.map(({ keyId, name, ...sums }) => ({ key_id: keyId, name, ...sumsOf(sums) })),
  granularity
})

const savingsOf = (rows: ReadonlyArray<SavingsRow>): SavingsOut => {
  const sum = (of: (row: SavingsRow) => number) => rows.reduce((all, row) => all + of(row), 0)
  const [spend, baseline] = [sum((row) => row.spend), sum((row) => row.baseline)]
  return {
    count: sum((row) => row.requests),
    spend_microusd: spend,
    baseline_microusd: baseline,
    saved_microusd: baseline - spend,
    by_model: rows.map((row) => ({
      model: row.model,
      count: row.requests,
      spend_microusd: row.spend,
      baseline_microusd: row.baseline
    }))
  }
}

const sumsOf = ({ requests, spend, tokens }: Record<"requests" | "tokens" | "spend", number>) => ({
  count: requests,
  tokens,
  spend_microusd: spend
})

/** To one decimal; 0 of nothing. */
const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10)
