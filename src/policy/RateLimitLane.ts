import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { CallerShape } from "../domain/Caller.ts"
import { type RateLimited, StoreUnavailable } from "../domain/GatewayError.ts"
import type { ProjectId } from "../domain/Ids.ts"
import type { RateLimitAdmission, RateLimitOptions } from "./RateLimits.ts"

/** A statement with more admissions than this is no faster and keeps its rows locked. */
const maxPerStatement = 256
/** As many as the ledger lets wait for their holds, which come after. */
const maxWaiting = 4_096

/** A request that waits for its admission. */
export interface Waiting {
  readonly caller: CallerShape
  readonly limits: RateLimitOptions
  readonly tokens: number
  readonly resume: (result: Effect.Effect<RateLimitAdmission, RateLimited | StoreUnavailable>) => void
}

/** What one statement writes. */
export interface Batch {
  readonly admissions: ReadonlyArray<Waiting>
  /** Keys and projects whose running requests are written, each with its project. */
  readonly scopes: ReadonlyMap<string, ProjectId>
}

/** Something else has locked rows of these projects; nothing was written. */
export class ProjectsLocked extends Data.TaggedError("ProjectsLocked")<{ readonly projects: ReadonlySet<ProjectId> }> {}

export interface LaneDeps {
  readonly write: (batch: Batch) => Effect.Effect<ReadonlyArray<object>, StoreUnavailable | ProjectsLocked>
  readonly written: (batch: Batch, rows: ReadonlyArray<object>) => void
  /** Takes what is of these projects away; what it returns is written again. */
  readonly moveApart?: (batch: Batch, projects: ReadonlySet<ProjectId>) => Batch
  readonly fork: (effect: Effect.Effect<void>) => unknown
}

/** Writes in natural batches: what arrives while one statement runs waits for the next. */
export class RateLimitLane {
  private readonly deps: LaneDeps
  /** Scopes whose requests have ended since they were last written. */
  private readonly changed = new Map<string, ProjectId>()
  private waiting: Array<Waiting> = []
  private isWriting = false
  private isFlushQueued = false
  /** The last statement has failed: for the other processes nothing runs here, or not what does. */
  hasFailed = false

  constructor(deps: LaneDeps) {
    this.deps = deps
  }

  get isEmpty(): boolean {
    return !this.isWriting && this.waiting.length === 0 && this.changed.size === 0
  }

  admit(waiting: Waiting): void {
    if (this.waiting.length >= maxWaiting) {
      waiting.resume(Effect.fail(new StoreUnavailable({ cause: "too much is waiting" })))
      return
    }
    this.waiting.push(waiting)
    this.flushSoon()
  }

  /** The scope's running requests are to be written. */
  change(scope: string, project: ProjectId): void {
    this.changed.set(scope, project)
    this.flushSoon()
  }

  /** What another lane could not write. */
  adopt({ admissions, scopes }: Batch): void {
    this.waiting.unshift(...admissions)
    for (const [scope, project] of scopes) this.changed.set(scope, project)
    if (!this.isEmpty) this.flushSoon()
  }

  /** Admissions that arrive in one turn of the event loop are written together. */
  flushSoon(): void {
    if (this.isFlushQueued || this.isWriting) return
    this.isFlushQueued = true
    queueMicrotask(() => {
      this.isFlushQueued = false
      this.flush()
    })
  }

  private flush(): void {
    if (this.isEmpty || this.isWriting) return
    this.isWriting = true
    const scopes = new Map(this.changed)
    this.changed.clear()
    const admissions = this.waiting.splice(0, maxPerStatement)
    for (const { caller } of admissions)
      scopes.set(caller.keyId, caller.projectId).set(caller.projectId, caller.projectId)
    const batch = { admissions, scopes }
    this.deps.fork(
      Effect.map(Effect.either(Effect.sandbox(this.deps.write(batch))), (result) => {
        this.isWriting = false
        this.hasFailed = false
        if (Either.isRight(result)) this.deps.written(batch, result.right)
        else this.failed(batch, result.left)
        // what has ended meanwhile; after a failure it waits for the next admission or retry
        if (this.waiting.length > 0 || (!this.hasFailed && this.changed.size > 0)) this.flush()
      })
    )
  }

  private failed(batch: Batch, cause: Cause.Cause<StoreUnavailable | ProjectsLocked>): void {
    const error = Option.getOrElse(Cause.failureOption(cause), () => new StoreUnavailable({ cause }))
    const { moveApart } = this.deps
    if (error._tag === "ProjectsLocked" && moveApart !== undefined) {
      const admissions = [...batch.admissions, ...this.waiting.splice(0)]
      const scopes = new Map([...batch.scopes, ...this.changed])
      this.changed.clear()
      this.adopt(moveApart({ admissions, scopes }, error.projects))
      return
    }
    this.hasFailed = true
    for (const [scope, project] of batch.scopes) this.changed.set(scope, project)
    const refused = Effect.fail(error._tag === "StoreUnavailable" ? error : new StoreUnavailable({ cause: error }))
    for (const { resume } of batch.admissions) resume(refused)
  }
}
