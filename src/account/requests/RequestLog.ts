import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { cost } from "../../domain/Call.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { usage } from "../../domain/Usage.ts"
import type { RequestOut } from "../../wire/account/Requests.ts"
import { chatUsage } from "../../wire/chat/ChatUsage.ts"
import { type RequestFilter, RequestLogStore, type RequestRow } from "./RequestLogStore.ts"

/** Reads the calls that have ended, of any project: who may see them is for the program that asks to check. */
export interface RequestLogShape {
  /**
   * The newest first, from the call `after`, at most `limit`; `next` is `null` at the end. Fewer than `limit` is not the end. None
   * where `after` is no call of the project.
   */
  readonly page: (
    project: ProjectId,
    filter: RequestFilter,
    after: string | null,
    limit: number
  ) => Effect.Effect<{ readonly items: ReadonlyArray<RequestOut>; readonly next: string | null }, StoreUnavailable>
  /** All of them, the newest first, in portions that are read when they are pulled. */
  readonly all: (project: ProjectId, filter: RequestFilter) => Stream.Stream<RequestOut, StoreUnavailable>
  /** By the request's id; of any project. None for a text that is no id, too. */
  readonly find: (id: string) => Effect.Effect<Option.Option<RequestOut>, StoreUnavailable>
  /** Whether the money of a call is still held: it runs, or the node that ran it has yet to write its settlement. */
  readonly isOpen: (id: string) => Effect.Effect<boolean, StoreUnavailable>
}

/** The calls of a project, as the ledger has written them. */
export class RequestLog extends Context.Tag("gateway/account/RequestLog")<RequestLog, RequestLogShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<RequestLog, never, RequestLogStore> = Layer.effect(
    this,
    Effect.map(RequestLogStore, (store) => ({
      page: (project, filter, after, limit) =>
        Effect.map(store.page(project, filter, after, limit), ({ next, rows }) => ({
          items: rows.map(requestOf),
          next
        })),
      all: (project, filter) =>
        Stream.paginateChunkEffect<string | null, RequestOut, StoreUnavailable, never>(null, (after) =>
          Effect.map(store.page(project, filter, after, portion), ({ next, rows }) => [
            Chunk.fromIterable(rows.map(requestOf)),
            Option.fromNullable(next)
          ])
        ),
      find: (id) => Effect.map(store.find(id), Option.map(requestOf)),
      isOpen: store.isOpen
    }))
  )
}

/** Waits until what calls have cost is written: those that have just ended still wait. A database that is away delays it for a bounded time. */
export const settled = (flushed: Effect.Effect<void>): Effect.Effect<unknown> =>
  Effect.timeoutOption(flushed, "1 second")

/** A call that has just ended, too. */
export const findEnded = (
  log: Pick<RequestLogShape, "find" | "isOpen">,
  flushed: Effect.Effect<void>,
  id: string
): Effect.Effect<Option.Option<RequestOut>, StoreUnavailable> => onceSettled(log, flushed, id, log.find(id))

/**
 * Looked for again where there is none: after what this node has settled, and while the call's money is held, since the node that
 * ran it may be about to write its settlement.
 */
export const onceSettled = <A>(
  { isOpen }: Pick<RequestLogShape, "isOpen">,
  flushed: Effect.Effect<void>,
  id: string,
  find: Effect.Effect<Option.Option<A>, StoreUnavailable>
): Effect.Effect<Option.Option<A>, StoreUnavailable> =>
  Effect.flatMap(find, (written) => {
    if (Option.isSome(written)) return Effect.succeed(written)
    const closed = Effect.repeat(isOpen(id), { while: (open) => open, schedule: otherNode })
    return Effect.zipRight(Effect.zipRight(settled(flushed), closed), find)
  })

/** A settlement waits up to 20 ms for others (`FlushTimers`); a loaded node or database needs longer. 0.63 s in all. */
const otherNode = Schedule.intersect(Schedule.exponential("10 millis"), Schedule.recurs(6))

/** Rows that a running export has in memory; each is about 1 KB. */
const portion = 500

const requestOf = (row: RequestRow): RequestOut => ({
  id: row.id,
  project_id: row.project_id,
  key_id: row.key_id,
  key_name: row.key_name,
  endpoint: row.endpoint,
  stream: row.stream,
  status: row.status,
  error: errorOf(row),
  requested_model: row.requested_model,
  model: row.model,
  provider: row.provider,
  reason: row.reason,
  routing_config: row.routing_config,
  policy_version: row.policy_version,
  candidate_pool: { models: row.pool },
  alpha: row.alpha,
  excluded: row.excluded,
  baseline:
    row.baseline_model === null || row.baseline_micro_usd === null
      ? null
      : { model: row.baseline_model, amount_microusd: row.baseline_micro_usd },
  held_microusd: row.held_micro_usd,
  cost: cost(row.cost_micro_usd, row.cost_basis),
  usage: usageOf(row),
  latency_ms: row.latency_millis,
  first_content_ms: row.first_content_millis,
  client_request_id: row.client_request_id,
  attempts: row.attempts.map((attempt) => ({
    provider: attempt.provider,
    model: attempt.model,
    status: attempt.status,
    error: errorOf(attempt),
    cost: cost(attempt.cost_micro_usd, attempt.cost_basis),
    latency_ms: attempt.latency_millis
  })),
  started_at: row.started_at.toISOString(),
  ended_at: row.written_at.toISOString()
})

const errorOf = (row: Pick<RequestRow, "error_code" | "error_message">): RequestOut["error"] =>
  row.error_code === null ? null : { code: row.error_code, message: row.error_message }

const usageOf = (row: RequestRow): RequestOut["usage"] =>
  row.input_tokens === null
    ? null
    : chatUsage(
        usage({
          inputTokens: row.input_tokens,
          cacheReadTokens: row.cache_read_tokens ?? 0,
          cacheWriteTokens: row.cache_write_tokens ?? 0,
          outputTokens: row.output_tokens ?? 0,
          reasoningTokens: row.reasoning_tokens ?? 0,
          details: {
            inputAudioTokens: row.input_audio_tokens ?? 0,
            outputAudioTokens: row.output_audio_tokens ?? 0,
            acceptedPredictionTokens: row.accepted_prediction_tokens ?? 0,
            rejectedPredictionTokens: row.rejected_prediction_tokens ?? 0
          }
        })
      )
