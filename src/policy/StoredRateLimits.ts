import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import type { CallerShape } from "../domain/Caller.ts"
import { type RateLimited, StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ProjectId } from "../domain/Ids.ts"
import { periodically } from "../domain/Periodic.ts"
import type { RateLimitQuota, RateLimitStatus } from "../domain/RateLimitStatus.ts"
import { Database } from "../sql/Database.ts"
import { lockNotAvailable, sqlStateOf } from "../sql/DatabaseError.ts"
import type { PreparedStatement } from "../sql/PreparedStatement.ts"
import { type Batch, ProjectsLocked, RateLimitLane } from "./RateLimitLane.ts"
import {
  limitsAnything,
  limitsOf,
  noStatus,
  type RateLimit,
  type RateLimitAdmission,
  type RateLimitOptions,
  RateLimits,
  type RateLimitsShape,
  type RejectingLimit,
  rejection,
  tightest
} from "./RateLimits.ts"

/** Running requests of a process that was not seen for so long do not count any more. */
const silence = "60 seconds"
/** How often a process with running requests is seen, whatever else it does. */
const heartbeatEvery = "20 seconds"
/** How often one whose last statement has failed tries again: after an outage its requests count for the others no later. */
const retryEvery = "1 second"
/** How often, and after what silence, what a process left behind is deleted. */
const sweepEvery = "1 hour"
/** How long a statement for all projects waits for a row that something else has locked: everybody waits for it. */
const sharedLockMillis = 50
/** With more locked projects it is the batch of another process that has them, and is done soon. */
const maxLockedProjects = 8
const otherBatchLockMillis = 200
/** The same for a project whose rows are known to be locked: its requests are refused then. */
const apartLockMillis = 1_000
/** Connections that such projects use together: a lock occupies one for as long as it is waited for. */
const maxApart = 2

/** Counted in the database, over all processes that share it. Needs a database, and costs a statement for each batch of admissions. */
export const layer = (options: RateLimitOptions): Layer.Layer<RateLimits, never, Database | IdGenerator> =>
  Layer.scoped(
    RateLimits,
    Effect.gen(function* () {
      const { prepare } = yield* Database
      const ids = yield* IdGenerator
      const limiter = new Limiter(
        options,
        { admit: prepare("rate_limit_admit", statement), locked: prepare("rate_limit_locked", lockedStatement) },
        ids.uuid(),
        yield* Effect.makeSemaphore(maxApart),
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
  from rate_limit_admit($1, '${silence}', $2, $3, $4, $5, $6, $7, $8)`

/** A row that another transaction has inserted and not committed is not found. */
const lockedStatement = `with free as (select scope_id from rate_limit where scope_id = any($1::uuid[]) for update skip locked)
  select scope_id as id from rate_limit where scope_id = any($1::uuid[]) and scope_id not in (select scope_id from free)`

/** A row that another process deletes or writes now is not waited for. */
const sweepStatement = `delete from rate_limit_running r using (
    select scope_id, process from rate_limit_running where seen_at < now() - interval '${sweepEvery}' for update skip locked
  ) old where r.scope_id = old.scope_id and r.process = old.process`

/** By then a bucket is empty, which is what one without a row is. */
const sweepLevelsStatement = `delete from rate_limit r using (
    select scope_id from rate_limit where at_millis < (extract(epoch from now()) - 86400) * 1000 limit 10000
    for update skip locked
  ) old where r.scope_id = old.scope_id`

interface BatchRow {
  readonly verdicts: ReadonlyArray<string>
  readonly waits: ReadonlyArray<string>
  readonly remaining: ReadonlyArray<string>
  readonly resets: ReadonlyArray<string>
}

interface Statements {
  readonly admit: PreparedStatement
  /** The scopes whose rows another transaction has locked. */
  readonly locked: PreparedStatement
}

/** One lane for all projects, and one for each whose rows something else has locked, until it is written again. */
class Limiter implements RateLimitsShape {
  private readonly options: RateLimitOptions
  private readonly statements: Statements
  private readonly process: string
  private readonly permits: Effect.Semaphore
  private readonly fork: (effect: Effect.Effect<void>) => unknown
  /** Requests of this process by key and by project; a scope without any is removed once that is written. */
  private readonly running = new Map<string, Running>()
  private readonly shared: RateLimitLane
  private readonly apart = new Map<ProjectId, RateLimitLane>()

  constructor(
    options: RateLimitOptions,
    statements: Statements,
    process: string,
    permits: Effect.Semaphore,
    fork: (effect: Effect.Effect<void>) => unknown
  ) {
    this.options = options
    this.statements = statements
    this.process = process
    this.permits = permits
    this.fork = fork
    this.shared = new RateLimitLane({
      write: this.writeShared,
      written: this.written,
      moveApart: this.moveApart,
      fork
    })
  }

  readonly admit = (
    caller: CallerShape,
    tokens: number
  ): Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable> =>
    Effect.suspend(() => {
      const limits = limitsOf(this.options, caller)
      return limitsAnything(limits)
        ? this.admitLimited(caller, limits, tokens)
        : // a concurrency limit may be set while it runs
          Effect.succeed({ release: this.count(caller, false), status: noStatus })
    })

  private admitLimited(
    caller: CallerShape,
    limits: RateLimitOptions,
    tokens: number
  ): Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable> {
    return Effect.async((resume) => {
      let isInterrupted = false
      this.laneOf(caller.projectId).admit({
        caller,
        limits,
        tokens,
        resume: (result) => {
          if (!isInterrupted) return resume(result)
          this.fork(Effect.ignore(Effect.map(result, ({ release }) => release())))
        }
      })
      return Effect.sync(() => {
        isInterrupted = true
      })
    })
  }

  /** Writes all that runs in this process, so that it goes on to count. */
  readonly beat = (): void => {
    for (const { isWritten, project, scope } of this.running.values()) {
      if (isWritten) this.laneOf(project).change(scope, project)
    }
    this.retry()
  }

  /** The same at once after a statement that has failed. */
  readonly retry = (): void => {
    const failed = [this.shared, ...this.apart.values()].filter(({ hasFailed }) => hasFailed)
    if (failed.length === 0) return
    for (const { isWritten, project, scope } of this.running.values()) {
      const lane = this.laneOf(project)
      if (isWritten && lane.hasFailed) lane.change(scope, project)
    }
    for (const lane of failed) lane.flushSoon()
  }

  private laneOf(project: ProjectId): RateLimitLane {
    return this.apart.get(project) ?? this.shared
  }

  private readonly writeShared = (
    batch: Batch
  ): Effect.Effect<ReadonlyArray<object>, StoreUnavailable | ProjectsLocked> =>
    Effect.catchAll(
      this.write(batch, sharedLockMillis),
      (error): Effect.Effect<ReadonlyArray<object>, StoreUnavailable | ProjectsLocked> =>
        sqlStateOf(error.cause) === lockNotAvailable
          ? Effect.flatMap(
              this.lockedOf(batch),
              (projects): Effect.Effect<ReadonlyArray<object>, StoreUnavailable | ProjectsLocked> =>
                projects.size > 0 && projects.size <= maxLockedProjects
                  ? Effect.fail(new ProjectsLocked({ projects }))
                  : this.write(batch, otherBatchLockMillis)
            )
          : Effect.fail(error)
    )

  private write(batch: Batch, maxLockMillis: number): Effect.Effect<ReadonlyArray<object>, StoreUnavailable> {
    return Effect.mapError(
      Effect.suspend(() => this.statements.admit([...this.parametersOf(batch), maxLockMillis])),
      (cause) => new StoreUnavailable({ cause })
    )
  }

  private lockedOf({ scopes }: Batch): Effect.Effect<ReadonlySet<ProjectId>, StoreUnavailable> {
    const projectOf = (row: object) => (Predicate.hasProperty(row, "id") ? scopes.get(String(row.id)) : undefined)
    return Effect.mapBoth(this.statements.locked([list([...scopes.keys()])]), {
      onSuccess: (rows) => new Set(rows.map(projectOf).filter(Predicate.isNotUndefined)),
      onFailure: (cause) => new StoreUnavailable({ cause })
    })
  }

  private readonly moveApart = ({ admissions, scopes }: Batch, projects: ReadonlySet<ProjectId>): Batch => {
    const of = (isOf: (project: ProjectId) => boolean): Batch => ({
      admissions: admissions.filter(({ caller }) => isOf(caller.projectId)),
      scopes: new Map([...scopes].filter(([, project]) => isOf(project)))
    })
    for (const project of projects) {
      const lane = this.apart.get(project) ?? this.newLane(project)
      this.apart.set(project, lane)
      lane.adopt(of((other) => other === project))
    }
    return of((project) => !projects.has(project))
  }

  private newLane(project: ProjectId): RateLimitLane {
    const lane: RateLimitLane = new RateLimitLane({
      write: (batch) => this.permits.withPermits(1)(this.write(batch, apartLockMillis)),
      written: (batch, rows) => {
        // before its callers go on: what they end belongs to the lane in which it is written next
        if (lane.isEmpty) this.apart.delete(project)
        this.written(batch, rows)
      },
      fork: this.fork
    })
    return lane
  }

  /** The limits of a scope without an admission decide nothing. */
  private parametersOf({ admissions, scopes }: Batch): ReadonlyArray<unknown> {
    const limits = new Map<string, ReadonlyArray<number | null>>()
    for (const {
      caller,
      limits: { key, project }
    } of admissions) {
      this.mark(caller.keyId, key)
      this.mark(caller.projectId, project)
      limits.set(caller.keyId, numbersOf(key)).set(caller.projectId, numbersOf(project))
    }
    const ids = [...scopes.keys()]
    return [
      this.process,
      list(ids),
      list(ids.map((scope) => this.running.get(scope)?.requests ?? 0)),
      list(ids.flatMap((scope) => limits.get(scope) ?? [null, null, null])),
      list(admissions.map(({ caller }) => caller.keyId)),
      list(admissions.map(({ caller }) => caller.projectId)),
      list(admissions.map(({ tokens }) => tokens))
    ]
  }

  private readonly written = ({ admissions }: Batch, rows: ReadonlyArray<object>): void => {
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
          ? Effect.succeed({ release: this.count(caller, true), status })
          : Effect.fail(rejection(limit, Number(row.waits[index]), status))
      )
    }
  }

  /** What runs of a scope is written from now on. */
  private mark(scope: string, limit: RateLimit): void {
    const running = this.running.get(scope)
    if (running === undefined) return
    running.isWritten = true
    running.isBounded = limit.concurrentRequests !== null
  }

  /** The end of a request that nothing limited costs no statement, unless a concurrency limit was set since. */
  private count({ keyId, projectId }: CallerShape, isLimited: boolean): () => void {
    const counted = [this.runningOf(keyId, projectId), this.runningOf(projectId, projectId)]
    for (const running of counted) {
      running.requests++
      if (isLimited) running.isWritten = true
    }
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      for (const running of counted) {
        running.requests--
        if (running.requests === 0) this.running.delete(running.scope)
        if (isLimited || running.isBounded) this.laneOf(projectId).change(running.scope, projectId)
      }
    }
  }

  private runningOf(scope: string, project: ProjectId): Running {
    const known = this.running.get(scope)
    if (known !== undefined) return known
    const running = { scope, project, requests: 0, isWritten: false, isBounded: false }
    this.running.set(scope, running)
    return running
  }
}

/** Requests of a key or project that run in this process. */
interface Running {
  readonly scope: string
  readonly project: ProjectId
  requests: number
  /** They count for the other processes, and are written again at each beat. */
  isWritten: boolean
  /** By a concurrency limit. */
  isBounded: boolean
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
