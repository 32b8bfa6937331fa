import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CallStatus, endpoints } from "../../domain/Call.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { isId, type KeyId, type ProjectId } from "../../domain/Ids.ts"
import { isStorable } from "../../domain/StorableText.ts"
import { modelsOf } from "../../ledger/ModelNumberStore.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { decodeIds, Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { requestIdOf } from "../../wire/RequestIdHex.ts"

/** What a list of requests is narrowed to; times are those when calls ended. */
export interface RequestFilter {
  /** Only calls that ended so. */
  readonly status?: CallStatus | undefined
  /** Only calls that this model answered, or failed last. */
  readonly model?: string | undefined
  /** Only calls of this provider. */
  readonly provider?: string | undefined
  /** Only calls of this key. */
  readonly key?: KeyId | undefined
  /** Only calls with this in the id of the call or its client, in a model's id, or in the code of the error; in any case. */
  readonly q?: string | undefined
  /** Included. */
  readonly from?: Date | undefined
  /** Excluded. */
  readonly to?: Date | undefined
}

export interface RequestPage {
  readonly rows: ReadonlyArray<RequestRow>
  /** The id of the call after which the list goes on; `null` at its end. */
  readonly next: string | null
}

export interface RequestLogStoreShape {
  /**
   * The newest first, from the call `after`; nothing when that is none of the project. At most `maxScanned` calls are read for one page, so that a filter that few calls pass takes no longer: then a
   * page has fewer rows than its limit, or none, and the list goes on.
   */
  readonly page: (
    project: ProjectId,
    filter: RequestFilter,
    after: string | null,
    limit: number
  ) => Effect.Effect<RequestPage, StoreUnavailable>
  /** A call of any project. */
  readonly find: (id: string) => Effect.Effect<Option.Option<RequestRow>, StoreUnavailable>
  /** Whether there is a hold for a call that has not been closed. */
  readonly isOpen: (id: string) => Effect.Effect<boolean, StoreUnavailable>
}

/** The rows of calls with their attempts. */
export class RequestLogStore extends Context.Tag("gateway/account/RequestLogStore")<
  RequestLogStore,
  RequestLogStoreShape
>() {
  static readonly layer = (options: RequestLogStoreOptions = {}): Layer.Layer<RequestLogStore, never, AccountSql> =>
    Layer.effect(
      this,
      Effect.map(AccountSql, (sql) => make(sql, options.maxScanned ?? defaultMaxScanned))
    )
}

export interface RequestLogStoreOptions {
  /** Calls that are read for one page. */
  readonly maxScanned?: number
}

const defaultMaxScanned = 10_000

const Failure = { error_code: Schema.NullOr(Schema.String), error_message: Schema.NullOr(Schema.String) }
const CostBasis = Schema.Literal("charged", "estimated")

const AttemptRow = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  status: CallStatus,
  ...Failure,
  cost_micro_usd: Schema.Int,
  cost_basis: CostBasis,
  latency_millis: Schema.Number
})

const StoredRow = Schema.Struct({
  id: Schema.String,
  project_id: Schema.String,
  key_id: Schema.String,
  key_name: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.Literal(...endpoints)),
  stream: Schema.NullOr(Schema.Boolean),
  status: CallStatus,
  ...Failure,
  requested_model: Schema.String,
  model: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  routing_config: Schema.NullOr(Schema.String),
  policy_version: Schema.NullOr(Int8),
  pool: Schema.NonEmptyArray(Schema.String),
  pool_numbers: Schema.NullOr(Schema.String),
  alpha: Schema.NullOr(Schema.Number),
  excluded: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Int })),
  baseline_model: Schema.NullOr(Schema.String),
  baseline_micro_usd: Schema.NullOr(Int8),
  held_micro_usd: Schema.NullOr(Int8),
  cost_micro_usd: Int8,
  cost_basis: CostBasis,
  input_tokens: Schema.NullOr(Int8),
  cache_read_tokens: Schema.NullOr(Int8),
  cache_write_tokens: Schema.NullOr(Int8),
  output_tokens: Schema.NullOr(Int8),
  reasoning_tokens: Schema.NullOr(Int8),
  input_audio_tokens: Schema.NullOr(Int8),
  output_audio_tokens: Schema.NullOr(Int8),
  accepted_prediction_tokens: Schema.NullOr(Int8),
  rejected_prediction_tokens: Schema.NullOr(Int8),
  latency_millis: Schema.NullOr(Schema.Number),
  first_content_millis: Schema.NullOr(Schema.Number),
  client_request_id: Schema.NullOr(Schema.String),
  started_at: Schema.DateFromSelf,
  written_at: Schema.DateFromSelf,
  attempts: Schema.Array(AttemptRow)
})
export type RequestRow = Omit<typeof StoredRow.Type, "pool_numbers">

const decodeRows = Schema.decodeUnknown(Schema.Array(StoredRow))

const make = (sql: SqlClient, maxScanned: number): RequestLogStoreShape => {
  const columns = sql`c.id, c.project_id, c.key_id,
    (select k.name from api_key k where k.id = c.key_id) as key_name, c.endpoint, c.stream, c.status, c.error_code, c.error_message, c.requested_model,
    c.model, c.provider, c.reason, c.routing_config, c.policy_version, c.pool,
    c.pool_numbers, c.alpha, c.excluded, c.baseline_model, c.baseline_micro_usd,
    (select h.amount_micro_usd from hold h where h.id = c.id) as held_micro_usd, c.cost_micro_usd, c.cost_basis, c.input_tokens,
    c.cache_read_tokens, c.cache_write_tokens, c.output_tokens, c.reasoning_tokens, c.input_audio_tokens,
    c.output_audio_tokens, c.accepted_prediction_tokens, c.rejected_prediction_tokens, c.latency_millis,
    c.first_content_millis, c.client_request_id, c.started_at, c.written_at,
    (select coalesce(json_agg(json_build_object('provider', a.provider, 'model', a.model, 'status', a.status,
        'error_code', a.error_code, 'error_message', a.error_message, 'cost_micro_usd', a.cost_micro_usd,
        'cost_basis', a.cost_basis, 'latency_millis', a.latency_millis) order by a.position), '[]')
      from call_attempt a where a.call_id = c.id) as attempts`

  /** The calls that are read for a page, as one of the indexes has them. */
  const scanned = (project: ProjectId, filter: RequestFilter, after: string | null): Fragment =>
    sql.and([
      ...(filter.key === undefined
        ? [sql`project_id = ${project}`]
        : // only the index by key may be used: that of the project has many calls of other keys
          [sql`key_id = ${filter.key}`, sql`(project_id = ${project}) is true`]),
      // the index of unsuccessful calls
      ...(filter.status === undefined || filter.status === "success" ? [] : [sql`status <> 'success'`]),
      ...(filter.from === undefined ? [] : [sql`written_at >= ${filter.from}`]),
      ...(filter.to === undefined ? [] : [sql`written_at < ${filter.to}`]),
      ...(after === null
        ? []
        : [
            sql`(written_at, id) < ((select written_at from call where id = ${after} and project_id = ${project}), ${after}::uuid)`
          ])
    ])
  const matching = (filter: RequestFilter): Fragment =>
    sql.and([
      sql`true`,
      ...(filter.status === undefined ? [] : [sql`status = ${filter.status}`]),
      ...(filter.model === undefined ? [] : [sql`model = ${filter.model}`]),
      ...(filter.provider === undefined ? [] : [sql`provider = ${filter.provider}`]),
      // strpos has no pattern characters that would have to be escaped
      ...(filter.q === undefined
        ? []
        : [
            sql.or([
              sql`strpos(lower(concat_ws(' ', id::text, client_request_id, requested_model, model, error_code)), lower(${filter.q})) > 0`,
              sql`id = ${requestIdOf(filter.q) ?? null}`
            ])
          ])
    ])
  /** Pools that are numbers, as the models that these stand for. */
  const requestRows = (stored: unknown) =>
    Effect.gen(function* () {
      const rows = yield* decodeRows(stored)
      const models = yield* modelsOf(
        sql,
        rows.flatMap(({ pool_numbers }) => pool_numbers ?? [])
      )
      return rows.map(({ pool, pool_numbers, ...row }): RequestRow => {
        const numbered = models.get(pool_numbers ?? "") ?? []
        return { ...row, pool: Arr.isNonEmptyReadonlyArray(numbered) ? numbered : pool }
      })
    })
  const newestFirst = sql`order by written_at desc, id desc`

  const rowsOf = (project: ProjectId, filter: RequestFilter, after: string | null, limit: number) =>
    sql`select ${columns} from (
        select * from (select * from call where ${scanned(project, filter, after)} ${newestFirst} limit ${maxScanned}) scanned
        where ${matching(filter)} ${newestFirst} limit ${limit}
      ) c ${newestFirst}`.pipe(Effect.flatMap(requestRows), fromSql)
  /**
   * The last call that was read for a page, `null` when it was read to the end of the list. Calls have ended since that page was read:
   * then it may be a newer one, and the page's last row comes later.
   */
  const lastScanned = (project: ProjectId, filter: RequestFilter, after: string | null, lastRow: string | null) =>
    sql`select case when (written_at, id) > (select written_at, id from call where id = ${lastRow}::uuid)
        then ${lastRow}::uuid else id end as id
      from call where ${scanned(project, filter, after)} ${newestFirst}
      offset ${maxScanned - 1} limit 1`.pipe(
      Effect.flatMap(decodeIds),
      Effect.map(([last]) => last?.id ?? null),
      fromSql
    )

  return {
    page: Effect.fnUntraced(function* (project, filter, after, limit) {
      if (matchesNothing(filter, after)) return { rows: [], next: null }
      const found = yield* rowsOf(project, filter, after, limit + 1)
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      if (found.length > limit && last !== undefined) return { rows, next: last.id }
      return { rows, next: yield* lastScanned(project, filter, after, last?.id ?? null) }
    }),
    find: (id) =>
      isId(id)
        ? sql`select ${columns} from call c where c.id = ${id}`.pipe(
            Effect.flatMap(requestRows),
            Effect.map(([row]) => Option.fromNullable(row)),
            fromSql
          )
        : Effect.succeedNone,
    isOpen: (id) =>
      isId(id)
        ? fromSql(Effect.map(sql`select 1 from hold where id = ${id} and state = 'held'`, Arr.isNonEmptyReadonlyArray))
        : Effect.succeed(false)
  }
}

/** The database refuses these values, which no row has. */
const matchesNothing = ({ model, provider, q }: RequestFilter, after: string | null): boolean =>
  (after !== null && !isId(after)) || ![model, provider, q].every((text) => text === undefined || isStorable(text))
