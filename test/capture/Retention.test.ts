import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { Captured } from "../../src/capture/Captured.ts"
import { CaptureKeys } from "../../src/capture/CaptureKeys.ts"
import * as CaptureRetention from "../../src/capture/CaptureRetention.ts"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { MasterKey } from "../../src/credentials/MasterKey.ts"
import type { Message } from "../../src/domain/Chat.ts"
import type { ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { databases } from "../ledger/databases.ts"
import { masterKey } from "../support/Service.ts"
import { collecting } from "./Collecting.ts"
import { silent, storedConversation } from "./StoredConversation.ts"

const dayMillis = 86_400_000
const firstDay = Date.UTC(2100, 0, 1)
const retentionDays = 2
const dayOf = (days: number): string => new Date(firstDay + days * dayMillis).toISOString().slice(0, 10)
const instructions = { role: "system" as const, content: "what every conversation of the day begins with ".repeat(40) }

/** Whether a portion is being deleted, and how many rows the last one had. */
class Deleting extends Context.Tag("test/capture/Deleting")<Deleting, { isRunning: boolean; rows: number }>() {
  static readonly layer = Layer.sync(this, () => ({ isRunning: false, rows: 0 }))
}

const observedStore = Layer.effect(
  CaptureStore,
  Effect.gen(function* () {
    const store = yield* CaptureStore
    const deleting = yield* Deleting
    return {
      ...store,
      deleteExpired: (at, max) =>
        Effect.suspend(() => {
          deleting.isRunning = true
          return Effect.tap(store.deleteExpired(at, max), (rows) => Object.assign(deleting, { isRunning: false, rows }))
        })
    }
  })
).pipe(Layer.provide(CaptureStore.layer))

/** Two calls of one conversation, the second on the first one. */
const conversation = (projectId: ProjectId, name: string, days: number) =>
  Effect.gen(function* () {
    const day = dayOf(days)
    const question = (turn: number): Message => ({
      role: "user",
      content: `question ${turn} of ${name}, as it was asked: ${randomUUID()}`
    })
    const first: ReadonlyArray<Message> = [instructions, question(1)]
    const messages = [...first, question(2)]
    const { place } = yield* storedConversation({
      projectId,
      name,
      day,
      capturedAt: new Date(firstDay + days * dayMillis),
      expiresAt: new Date(firstDay + (days + retentionDays + 1) * dayMillis),
      prompts: [first, messages]
    })
    return { place, day, sent: messages.map((message) => JSON.stringify(message)) }
  })

/** The prompt of the last call that can be read. */
const readAgain = ({ place }: Effect.Effect.Success<ReturnType<typeof conversation>>) =>
  Effect.gen(function* () {
    const rows = yield* (yield* CaptureStore).ofConversation(place)
    const last = yield* Stream.runLast((yield* Captured).expanded(rows))
    return Option.getOrUndefined(last)?.expanded.blocks.map(({ text }) => text) ?? []
  })

const tables = ["capture_sample", "capture_conversation", "capture_shared", "capture_day_key"]
const daysWithRows = (projectId: ProjectId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const found = yield* Effect.forEach(tables, (table) =>
      Effect.map(
        sql.unsafe<{ readonly day: string }>(
          `select distinct day::text as day from ${table} where project_id = '${projectId}' order by day`
        ),
        (rows) => rows.map(({ day }) => day)
      )
    )
    return new Set(found.map((days) => days.join(" ")))
  })

/** Waits for a statement, which takes time that the test clock does not know. */
const moment = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
/** Until nothing is being deleted and the next run is due at a later time. */
const settled: Effect.Effect<void, never, Deleting> = Effect.gen(function* () {
  const { isRunning, rows } = yield* Deleting
  const [next] = Array.from(yield* TestClock.sleeps()).sort((a, b) => a - b)
  const now = yield* TestClock.currentTimeMillis
  if (isRunning || next === undefined || next <= now) yield* moment
  else if (rows > 0) yield* TestClock.setTime(next)
  else return
  yield* settled
})

/** The clock moves to that time, and expired rows are deleted until there are none. */
const moveTo = (millis: number) => Effect.zipRight(TestClock.setTime(millis), settled)

for (const [name, database] of databases) {
  const services = Captured.layer.pipe(
    Layer.provideMerge(CaptureKeys.layer),
    Layer.provideMerge(observedStore),
    Layer.provideMerge(Deleting.layer),
    Layer.provide(silent),
    Layer.provide(MasterKey.layer({ current: Redacted.make(masterKey), previous: null, directory: null })),
    Layer.provideMerge(Timers.layerClock),
    Layer.provideMerge(database)
  )
  layer(services, { timeout: 60_000 })(`retention of captured calls, ${name}`, (it) => {
    it.scoped("deletes days that have expired, and leaves the others as they were sent", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(firstDay)
        const projectId = yield* collecting({ retentionDays })
        const kept = [
          yield* conversation(projectId, "first", 0),
          yield* conversation(projectId, "second", 1),
          yield* conversation(projectId, "third", 4)
        ]
        yield* Layer.build(CaptureRetention.layer)
        yield* settled
        for (let gone = 0; gone <= kept.length; gone++) {
          const expiry = firstDay + ([0, 1, 4][gone - 1] ?? -1) * dayMillis + (retentionDays + 1) * dayMillis
          if (gone > 0) {
            // the last run before
            yield* moveTo(expiry - 1)
            expect(yield* daysWithRows(projectId)).toEqual(
              new Set([
                kept
                  .slice(gone - 1)
                  .map(({ day }) => day)
                  .join(" ")
              ])
            )
          }
          yield* moveTo(gone === 0 ? firstDay + dayMillis : expiry + 600_000)
          const left = kept.slice(gone)
          expect(yield* daysWithRows(projectId)).toEqual(new Set([left.map(({ day }) => day).join(" ")]))
          for (const one of left) expect(yield* readAgain(one)).toEqual(one.sent)
          for (const one of kept.slice(0, gone)) expect(yield* readAgain(one)).toEqual([])
        }
      })
    )

    it.effect("deletes the key of a day before its rows, so that none of them can be read any more", () =>
      Effect.gen(function* () {
        const store = yield* CaptureStore
        const sql = yield* SqlClient
        const projectId = yield* collecting({ retentionDays })
        const one = yield* conversation(projectId, "only", 0)
        expect(yield* readAgain(one)).toEqual(one.sent)
        const at = new Date(firstDay + (retentionDays + 1) * dayMillis)
        expect(yield* store.deleteExpired(at, 1)).toBe(1)
        expect(yield* sql`select 1 from capture_sample where project_id = ${projectId}`).toHaveLength(1)
        expect(yield* sql`select 1 from capture_day_key where project_id = ${projectId}`).toEqual([])
        expect(yield* readAgain(one)).toEqual([])
      })
    )
  })
}
