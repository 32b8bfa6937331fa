import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { AccountId, ProjectId, UserId } from "../../../src/domain/Ids.ts"
import { type GradedEvidence, maxEvidenceAgeMillis } from "../../../src/domain/QualitySnapshot.ts"
import { QualityEvidence } from "../../../src/routing/evidence/QualityEvidenceStore.ts"
import { databases } from "../../ledger/databases.ts"

const now = Date.UTC(2100, 0, 31)

const project = Effect.gen(function* () {
  const sql = yield* SqlClient
  const user = UserId.make(randomUUID())
  const account = AccountId.make(randomUUID())
  const id = ProjectId.make(randomUUID())
  yield* sql`insert into app_user (id, name) values (${user}, 'u')`
  yield* sql`insert into account (id, user_id) values (${account}, ${user})`
  yield* sql`insert into project (id, account_id, name) values (${id}, ${account}, 'p')`
  return id
})

const graded = (projectId: ProjectId, changes: Partial<GradedEvidence> = {}): GradedEvidence => ({
  projectId,
  promptClass: "code",
  model: "sim/small",
  source: "analysis",
  sourceId: "first",
  mean: 0.75,
  grades: 40,
  comparison: { incumbent: "sim/best", wins: 4, losses: 6, ties: 30, placeboMean: 0.01, sensitivityLow: 0.8 },
  gradedAtMillis: now,
  ...changes
})

for (const [name, database] of databases) {
  layer(QualityEvidence.layer.pipe(Layer.provideMerge(database)), { timeout: 60_000 })(
    `quality evidence, ${name}`,
    (it) => {
      describe("snapshots", () => {
        it.effect("keep every version as it was published", () =>
          Effect.gen(function* () {
            const id = yield* project
            const store = yield* QualityEvidence
            expect(yield* store.active(id)).toEqual(Option.none())
            expect(yield* store.record([graded(id)])).toBe(true)
            const first = yield* store.publish(id, now)
            expect(first).toEqual({
              projectId: id,
              version: 1,
              createdAtMillis: now,
              rows: { code: { "sim/small": { mean: 0.75, n: 40 } } }
            })
            yield* store.record([graded(id, { sourceId: "second", mean: 0.25 })])
            const second = yield* store.publish(id, now)
            expect([second.version, second.rows.code?.["sim/small"]]).toEqual([2, { mean: 0.5, n: 80 }])
            expect(yield* store.read(id, 1)).toEqual(Option.some(first))
            expect(yield* store.active(id)).toEqual(Option.some(second))
          })
        )

        it.effect("have no new version where nothing was graded since", () =>
          Effect.gen(function* () {
            const id = yield* project
            const store = yield* QualityEvidence
            yield* store.record([graded(id), graded(id, { promptClass: "chat" })])
            const first = yield* store.publish(id, now)
            expect(yield* store.publish(id, now)).toEqual(first)
          })
        )

        it.effect("get versions of their own from publishers at the same time", () =>
          Effect.gen(function* () {
            const id = yield* project
            const store = yield* QualityEvidence
            yield* store.record([graded(id)])
            const versions = yield* Effect.forEach(
              [1, 2, 3, 4],
              (days) => Effect.map(store.publish(id, now + days * 86_400_000), ({ version }) => version),
              { concurrency: "unbounded" }
            )
            expect(versions.toSorted()).toEqual([1, 2, 3, 4])
          })
        )
      })

      describe("evidence", () => {
        it.effect("of one source counts once", () =>
          Effect.gen(function* () {
            const id = yield* project
            const store = yield* QualityEvidence
            yield* store.record([graded(id)])
            expect(yield* store.record([graded(id, { mean: 0 })])).toBe(false)
            expect((yield* store.publish(id, now)).rows.code?.["sim/small"]?.mean).toBe(0.75)
          })
        )

        it.effect("of one project is in no other's snapshot", () =>
          Effect.gen(function* () {
            const [mine, foreign] = [yield* project, yield* project]
            const store = yield* QualityEvidence
            yield* store.record([graded(mine)])
            expect((yield* store.publish(foreign, now)).rows).toEqual({})
          })
        )

        it.effect("is dropped when it is too old to count", () =>
          Effect.gen(function* () {
            const id = yield* project
            const store = yield* QualityEvidence
            const sql = yield* SqlClient
            yield* store.record([
              graded(id, { gradedAtMillis: now - maxEvidenceAgeMillis - 1 }),
              graded(id, { model: "sim/best" })
            ])
            yield* store.publish(id, now)
            expect(yield* sql`select model from quality_evidence where project_id = ${id}`).toEqual([
              { model: "sim/best" }
            ])
          })
        )
      })
    }
  )
}
