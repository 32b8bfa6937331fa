import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import type { CallerShape } from "../domain/Caller.ts"
import { type RateLimited, StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { periodically } from "../domain/Periodic.ts"
import type { RateLimitQuota, RateLimitStatus } from "../domain/RateLimitStatus.ts"
import { Database } from "../sql/Database.ts"
import type { PreparedStatement } from "../sql/PreparedStatement.ts"
import {
  limitsAnything,
  limitsOf,
  type RateLimit,
  type RateLimitAdmission,
  type RateLimitOptions,
  RateLimits,
  type RateLimitsShape,
  type RejectingLimit,
  rejection,
  tightest,
  unlimited
} from "./RateLimits.ts"

/** Running requests of a process that was not seen for so long do not count any more. */
const silence = "60 seconds"
/** How often a process with running requests is seen, whatever else it does. */
const heartbeatEvery = "20 seconds"
/** How often one whose last statement has failed tries again: after an outage its requests count for the others no later. */
const retryEvery = "1 second"
/** How often, and after what silence, what a process left behind is deleted. */
const sweepEvery = "1 hour"
/** A statement with more admissions than this is no faster and keeps its rows locked. */
const maxPerStatement = 256
/** How long a statement waits for a row that something else has locked. */
const maxLockMillis = 200
/** As many as the ledger lets wait for their holds, which come after. */
const maxWaiting = 4_096

/** Counted in the database, over all processes that share it. Needs a database, and costs a statement for each batch of admissions. */
export const layer = (options: RateLimitOptions): Layer.Layer<RateLimits, never, Database | IdGenerator> =>
  Layer.scoped(
    RateLimits,
    Effect.gen(function* () {
      const { prepare } = yield* Database
      const ids = yield* IdGenerator
      const limiter = new Limiter(
        options,
        prepare("rate_limit_admit", statement),
        ids.uuid(),
        Runtime.runFork(yield* Effect.runtime<never>())
      )
      yield* periodically(heartbeatEvery, "running requests could not be counted again", Effect.sync(limiter.beat))
      yield* periodically(retryEvery, "running requests could not be counted again", Effect.sync(limiter.retry))
      const sweep = prepare("rate_limit_sweep", sweepStatement)([])
      yield* periodically(sweepEvery, "running requests of ended processes could not be deleted", sweep)
      const sweepLevels = prepare("rate_limit_sweep_levels", sweepLevelsStatement)([])
      yield* periodically(sweepEvery, "unused rate limits could not be deleted", sweepLevels)
      yield* Effect.addFinalizer(() => Effect.sync(limiter.beat))
      return limiter
    })
  )

const statement = `select verdicts, waits, remaining, resets
  from rate_limit_admit($1, '${silence}', $2, $3, $4, $5, $6, $7, ${maxLockMillis})`

/** A row that another process deletes or writes now is not waited for. */
const sweepStatement = `delete from rate_limit_running r using (
    select scope_id, process from rate_limit_running where seen_at < now() - interval '${sweepEvery}' for update skip locked
  ) old where r.scope_id = old.scope_id and r.process = old.process`

/** By then a bucket is empty, which is what one without a row is. */
const sweepLevelsStatement = `delete from rate_limit r using (
    select scope_id from rate_limit where at_millis < (extract(epoch from now()) - 86400) * 1000 limit 10000
    for update skip locked
  ) old where r.scope_id = old.scope_id`

/** A request that waits for its admission. */
interface Waiting {
  readonly caller: CallerShape
  readonly limits: RateLimitOptions
  readonly tokens: number
  readonly resume: (result: Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable>) => void
}

interface BatchRow {
  readonly verdicts: ReadonlyArray<string>
  readonly waits: ReadonlyArray<string>
  readonly remaining: ReadonlyArray<string>
  readonly resets: ReadonlyArray<string>
}

/** Writes in natural batches: what arrives while one statement runs waits for the next. */
class Limiter implements RateLimitsShape {
  private readonly options: RateLimitOptions
  private readonly run: PreparedStatement
  private readonly process: string
  private readonly fork: (effect: Effect.Effect<void>) => unknown
  /** Requests of this process by key and by project; a scope without any is removed once that is written. */
  private readonly running = new Map<string, number>()
  /** Scopes whose requests have ended since they were last written. */
  private readonly changed = new Set<string>()
  private waiting: Array<Waiting> = []
  private isWriting = false
  private isFlushQueued = false
  /** The last statement has failed: for the others nothing runs here, or not what does. */
  private hasFailed = false

  constructor(
    options: RateLimitOptions,
    run: PreparedStatement,
    process: string,
    fork: (effect: Effect.Effect<void>) => unknown
  ) {
    this.options = options
    this.run = run
    this.process = process
    this.fork = fork
  }

  readonly admit = (
    caller: CallerShape,
    tokens: number
  ): Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable> =>
    Effect.suspend(() => {
      const limits = limitsOf(this.options, caller)
      return limitsAnything(limits) ? this.admitLimited(caller, limits, tokens) : unlimited
    })

  private admitLimited(
    caller: CallerShape,
    limits: RateLimitOptions,
    tokens: number
  ): Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable> {
    return Effect.async((resume) => {
      if (this.waiting.length >= maxWaiting) {
        return resume(Effect.fail(new StoreUnavailable({ cause: "too much is waiting" })))
      }
      let isInterrupted = false
      this.waiting.push({
        caller,
        limits,
        tokens,
        resume: (result) => {
          if (!isInterrupted) return resume(result)
          this.fork(Effect.ignore(Effect.map(result, ({ release }) => release())))
        }
      })
      this.flushSoon()
      return Effect.sync(() => {
        isInterrupted = true
      })
    })
  }

  /** Writes all that runs in this process, so that it goes on to count. */
  readonly beat = (): void => {
    for (const scope of this.running.keys()) this.changed.add(scope)
    if (this.changed.size > 0) this.flushSoon()
  }

  /** The same at once after a statement that has failed. */
  readonly retry = (): void => {
    if (this.hasFailed) this.beat()
  }

  /** Admissions that arrive in one turn of the event loop are written together. */
  private flushSoon(): void {
    if (this.isFlushQueued || this.isWriting) return
    this.isFlushQueued = true
    queueMicrotask(() => {
      this.isFlushQueued = false
      this.flush()
    })
  }

  private flush(): void {
    if (this.isWriting || (this.waiting.length === 0 && this.changed.size === 0)) return
    this.isWriting = true
    const admissions = this.waiting.splice(0, maxPerStatement)
    const scopes = new Set(this.changed)
    this.changed.clear()
    for (const { caller } of admissions) scopes.add(caller.keyId).add(caller.projectId)
    this.fork(
      Effect.map(Effect.exit(this.run(this.parametersOf(admissions, [...scopes]))), (exit) => {
        this.isWriting = false
        this.hasFailed = Exit.isFailure(exit)
        if (Exit.isSuccess(exit)) this.written(admissions, exit.value)
        else this.failed(admissions, scopes, exit)
        // what has ended meanwhile; after a failure it waits for the next admission or retry
        if (this.waiting.length > 0 || (Exit.isSuccess(exit) && this.changed.size > 0)) this.flush()
      })
    )
  }

  /** The limits of a scope without an admission decide nothing. */
  private parametersOf(admissions: ReadonlyArray<Waiting>, scopes: ReadonlyArray<string>): ReadonlyArray<unknown> {
    const limits = new Map<string, ReadonlyArray<number | null>>()
    for (const {
      caller,
      limits: { key, project }
    } of admissions) {
      limits.set(caller.keyId, numbersOf(key)).set(caller.projectId, numbersOf(project))
    }
    return [
      this.process,
      list(scopes),
      list(scopes.map((scope) => this.running.get(scope) ?? 0)),
      list(scopes.flatMap((scope) => limits.get(scope) ?? [null, null, null])),
      list(admissions.map(({ caller }) => caller.keyId)),
      list(admissions.map(({ caller }) => caller.projectId)),
      list(admissions.map(({ tokens }) => tokens))
    ]
  }

  private written(admissions: ReadonlyArray<Waiting>, rows: ReadonlyArray<object>): void {
    const [row] = rows
    for (const [index, { caller, limits, resume }] of admissions.entries()) {
      if (!isBatchRow(row)) {
        resume(Effect.dieMessage("the database decided nothing on a rate limit"))
        continue
      }
      const status = statusOf(limits, row, index)
      const limit = limitNames[row.verdicts[index] ?? ""]
      resume(
        limit === undefined
          ? Effect.succeed({ release: this.count(caller), status })
          : Effect.fail(rejection(limit, Number(row.waits[index]), status))
      )
    }
  }

  private failed(
    admissions: ReadonlyArray<Waiting>,
    scopes: ReadonlySet<string>,
    exit: Exit.Failure<unknown, unknown>
  ): void {
    for (const scope of scopes) this.changed.add(scope)
    for (const { resume } of admissions) resume(Effect.fail(new StoreUnavailable({ cause: exit.cause })))
  }

  private count({ keyId, projectId }: CallerShape): () => void {
    const add = (scope: string, change: number): void => {
      const running = (this.running.get(scope) ?? 0) + change
      if (running > 0) this.running.set(scope, running)
      else this.running.delete(scope)
    }
    add(keyId, 1)
    add(projectId, 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      for (const scope of [keyId, projectId]) {
        add(scope, -1)
        this.changed.add(scope)
      }
      this.flushSoon()
    }
  }
}

/** An array in PostgreSQL's text format; ids and numbers need no quotes. */
const list = (values: ReadonlyArray<string | number | null>): string =>
  `{${values.map((value) => value ?? "null").join(",")}}`

const numbersOf = ({ concurrentRequests, requestsPerMinute, tokensPerMinute }: RateLimit) => [
  requestsPerMinute,
  tokensPerMinute,
  concurrentRequests
]

/** By the verdicts of the SQL; that of an admission is empty. */
const limitNames: Readonly<Record<string, RejectingLimit>> = Object.fromEntries(
  (["key", "project"] as const).flatMap((scope) => [
    [`${scope}/requests`, { scope, limit: `requests per minute of this ${scope}` }],
    [`${scope}/tokens`, { scope, limit: `tokens per minute of this ${scope}` }],
    [`${scope}/concurrency`, { scope, limit: `concurrent requests of this ${scope}` }]
  ])
)

const isBatchRow = (row: unknown): row is BatchRow =>
  Predicate.isRecord(row) && ["verdicts", "waits", "remaining", "resets"].every((name) => Array.isArray(row[name]))

/** In the SQL's arrays each admission has four numbers: the key's requests and tokens, then the project's. */
const statusOf = ({ key, project }: RateLimitOptions, row: BatchRow, index: number): RateLimitStatus => {
  const quota = (limit: number | null, at: number): ReadonlyArray<RateLimitQuota> =>
    limit === null
      ? []
      : [{ limit, remaining: Number(row.remaining[4 * index + at]), resetMillis: Number(row.resets[4 * index + at]) }]
  return {
    requests: tightest([...quota(key.requestsPerMinute, 0), ...quota(project.requestsPerMinute, 2)]),
    tokens: tightest([...quota(key.tokensPerMinute, 1), ...quota(project.tokensPerMinute, 3)])
  }
}
