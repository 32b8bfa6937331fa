import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { periodically } from "../../domain/Periodic.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { QualityEvidence } from "./QualityEvidenceStore.ts"

/** A project that grades all day has 288 versions a day. */
const interval = Duration.minutes(5)

/**
 * Publishes the grades that are in no snapshot yet, in the background. Every node does so: a project has one publisher at a time,
 * and what one has published is not pending for the others.
 */
export const publishing: Layer.Layer<never, never, AccountTransactions | QualityEvidence> = Layer.scopedDiscard(
  Effect.flatMap(Effect.all([AccountTransactions, QualityEvidence]), ([transactions, evidence]) =>
    periodically(interval, "the grades of models could not be published", publishPending(transactions, evidence))
  )
)

/** Publishes all that is pending; every node ranks by it from then on. */
export const publishPending = (
  transactions: AccountTransactions["Type"],
  evidence: QualityEvidence["Type"]
): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    const projects = yield* evidence.pending
    for (const id of projects) {
      const now = yield* Clock.currentTimeMillis
      yield* transactions.commit((announce) =>
        Effect.zipRight(evidence.publish(id, now), announce({ kind: "quality", id }))
      )
    }
    return projects.length > 0
  }).pipe(Effect.repeat({ while: (more) => more }), Effect.asVoid)
