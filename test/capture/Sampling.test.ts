import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import type { NewSample } from "../../src/capture/CaptureRecords.ts"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { KeyId, type ProjectId, RequestId } from "../../src/domain/Ids.ts"
import { databases } from "../ledger/databases.ts"
import { collecting } from "./Collecting.ts"
import { keptOf, type OfferedCall, offered } from "./Offered.ts"

const maxSamples = 50
const day = "2100-01-01"
const dayKey = Buffer.alloc(32, 1)
const keyId = KeyId.make(randomUUID())

const idIn = (project: ProjectId, id: string): RequestId => RequestId.make(`${project.slice(0, 8)}${id.slice(8)}`)

/** What one node does with the calls that it takes: it remembers the last sample of a conversation, for the next to refer to. */
const node = (projectId: ProjectId, calls: ReadonlyArray<OfferedCall>, perBatch: number) =>
  Effect.gen(function* () {
    const store = yield* CaptureStore
    const last = new Map<string, RequestId>()
    for (let at = 0; at < calls.length; at += perBatch) {
      const samples: Array<NewSample> = []
      for (const call of calls.slice(at, at + perBatch)) {
        const place = { projectId, configVersion: 1, conversation: call.conversation }
        const found = yield* store.place(place, call.position, call.class, day, day)
        if (found === undefined) continue
        const id = idIn(projectId, call.id)
        const before = last.get(call.conversation)
        last.set(call.conversation, id)
        samples.push({
          ...place,
          id,
          day,
          dayKey,
          base: before !== undefined && before < id ? before : null,
          keyId,
          endUser: null,
          flowAuthorized: false,
          capturedAt: new Date(0),
          expiresAt: new Date("2200-01-01"),
          shared: [],
          sealed: Buffer.alloc(1)
        })
      }
      const { written } = yield* store.write({ projectId, configVersion: 1 }, samples)
      for (const { conversation, id } of samples) if (!written.has(id)) last.delete(conversation)
      const { stored } = yield* storedOf(projectId)
      expect(stored.length).toBeLessThanOrEqual(maxSamples)
    }
  })

const storedOf = (projectId: ProjectId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const stored = yield* sql<{ readonly id: string; readonly base: string | null }>`
      select id, base from capture_sample where project_id = ${projectId}`
    const thresholds = yield* sql<{ readonly class: string; readonly below: number }>`
      select class, below from capture_threshold where project_id = ${projectId}`
    const counted = yield* sql`select 1 from capture_conversation c where project_id = ${projectId}
      and samples <> (select count(*) from capture_sample s where s.project_id = c.project_id and s.conversation = c.conversation)`
    return { stored, thresholds, miscounted: counted.length }
  })

/** Three nodes take the calls, each in its own order. */
const division = offered(maxSamples, 20).chain((calls) =>
  fc.record({
    calls: fc.shuffledSubarray([...calls], { minLength: calls.length }),
    nodes: fc.array(fc.nat(2), { minLength: calls.length, maxLength: calls.length }),
    perBatch: fc.integer({ min: 1, max: 12 })
  })
)

for (const [name, database] of databases) {
  layer(CaptureStore.layer.pipe(Layer.provideMerge(database)), { timeout: 60_000 })(`sampling, ${name}`, (it) => {
    it.effect("keeps the same samples in any order, on any number of nodes", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<CaptureStore | SqlClient>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(division, ({ calls, nodes, perBatch }) =>
              Effect.runPromise(
                Effect.gen(function* () {
                  const projectId = yield* collecting({ maxSamples })
                  yield* (yield* CaptureStore).dayKey(projectId, day, dayKey)
                  yield* Effect.forEach(
                    [0, 1, 2],
                    (own) =>
                      node(
                        projectId,
                        calls.filter((_, at) => nodes[at] === own),
                        perBatch
                      ),
                    { concurrency: "unbounded", discard: true }
                  )
                  const expected = keptOf(maxSamples, calls)
                  const { miscounted, stored, thresholds } = yield* storedOf(projectId)
                  const ids = new Set(stored.map(({ id }) => id))
                  expect(ids).toEqual(new Set([...expected.ids].map((id) => idIn(projectId, id))))
                  expect(new Map(thresholds.map((one) => [one.class, one.below]))).toEqual(expected.thresholds)
                  expect(stored.filter(({ base }) => base !== null && !ids.has(base))).toEqual([])
                  expect(miscounted).toBe(0)
                }).pipe(Effect.provide(context))
              )
            ),
            { numRuns: 8, endOnFailure: true }
          )
        )
      })
    )
  })
}
