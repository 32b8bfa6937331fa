import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { NotFound } from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { InvalidRequest, RateLimited, type StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import type { PromptClass } from "../../domain/PromptClass.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import * as Bucket from "../../policy/Bucket.ts"
import { RateLimits } from "../../policy/RateLimits.ts"
import { QualityEvidence } from "../../routing/evidence/QualityEvidenceStore.ts"
import { likeliest } from "../../routing/quality/Classify.ts"
import { fromRecorded } from "../../routing/RequestFeatures.ts"
import { onceSettled, RequestLog } from "../requests/RequestLog.ts"
import { FeedbackStore, type GradedCall } from "./FeedbackStore.ts"

/** A grade for the response of a call. */
export interface Grade {
  /** Of the call: a uuid. */
  readonly requestId: string
  /** 0 to 1. */
  readonly score: number
}

/** What a grade counts for. */
export interface Graded {
  readonly model: string
  readonly promptClass: PromptClass
  /** False where the call had been graded before: the first grade counts. */
  readonly isNew: boolean
}

export type FeedbackFailure = InvalidRequest | NotFound | RateLimited | StoreUnavailable

/** Takes grades of applications. */
export interface FeedbackShape {
  /** Counts as a request of the key's rate limits; a project may send `perMinute` of them. */
  readonly give: (caller: CallerShape, grade: Grade) => Effect.Effect<Graded, FeedbackFailure>
}

/** What applications say of responses: evidence for the routing of their own project. */
export class Feedback extends Context.Tag("gateway/account/Feedback")<Feedback, FeedbackShape>() {
  static readonly layer: Layer.Layer<
    Feedback,
    never,
    FeedbackStore | Ledger | QualityEvidence | RateLimits | RequestLog
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Of one project at one node: as many calls as a busy application makes. */
export const perMinute = 600
/** Above it, those that have nothing left to wait for are forgotten. */
const maxBuckets = 10_000

const make = Effect.gen(function* () {
  const store = yield* FeedbackStore
  const evidence = yield* QualityEvidence
  const ledger = yield* Ledger
  const log = yield* RequestLog
  const rateLimits = yield* RateLimits
  const buckets = new Map<ProjectId, Bucket.Bucket>()

  const paced = (project: ProjectId): Effect.Effect<void, RateLimited> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (buckets.size > maxBuckets) {
        for (const [id, bucket] of buckets) if (Bucket.isIdle(bucket, now)) buckets.delete(id)
      }
      const bucket = buckets.get(project) ?? Bucket.make(perMinute)
      const retryAfterMillis = Bucket.waitMillis(bucket, 1, now)
      if (retryAfterMillis > 0) return Effect.fail(tooMany(retryAfterMillis))
      Bucket.take(bucket, 1, now)
      buckets.set(project, bucket)
      return Effect.void
    })

  const find = ({ accountId, projectId }: CallerShape, id: string) =>
    onceSettled(log, ledger.flushedOf(accountId), id, Effect.map(store.find(projectId, id), Option.fromNullable))

  const record = Effect.fnUntraced(function* (caller: CallerShape, { requestId, score }: Grade) {
    const call = yield* find(caller, requestId)
    if (Option.isNone(call)) return yield* noSuchCall
    const subject = subjectOf(call.value)
    if (subject instanceof InvalidRequest) return yield* subject
    const isNew = yield* evidence.record([
      {
        ...subject,
        projectId: caller.projectId,
        source: "feedback",
        sourceId: requestId,
        mean: score,
        grades: 1,
        comparison: null,
        gradedAtMillis: yield* Clock.currentTimeMillis
      }
    ])
    return { ...subject, isNew }
  })

  return Feedback.of({
    give: (caller, grade) =>
      Effect.acquireUseRelease(
        rateLimits.admit(caller, 0),
        () => Effect.zipRight(paced(caller.projectId), record(caller, grade)),
        ({ release }) => Effect.sync(release)
      )
  })
})

/** The model and the class that the grade of a call is about. */
const subjectOf = ({ features, model, status }: GradedCall): Pick<Graded, "model" | "promptClass"> | InvalidRequest => {
  if (status !== "success" || model === null) return invalid("The call has no complete response to grade.")
  const known = features === null ? null : fromRecorded(features)
  if (known === null) {
    return invalid(
      "The call named a concrete model: the class of its prompt is unknown, so a grade would have no effect."
    )
  }
  return { model, promptClass: likeliest(known.classes) }
}

const invalid = (message: string): InvalidRequest =>
  new InvalidRequest({ code: "invalid_value", message, param: "request_id" })

const noSuchCall = new NotFound({ message: "Call not found, or it has not ended yet." })

const tooMany = (retryAfterMillis: number): RateLimited =>
  new RateLimited({
    code: "rate_limit_exceeded",
    message: `A project may send ${perMinute} grades per minute.`,
    retryAfterMillis
  })
