import { randomUUID } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CaptureKeys } from "../../src/capture/CaptureKeys.ts"
import type { SampleRow } from "../../src/capture/CaptureRecords.ts"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { factsOf } from "../../src/capture/Facts.ts"
import { type Base, encode } from "../../src/capture/worker/sample.js"
import type { Message } from "../../src/domain/Chat.ts"
import { KeyId, type ProjectId, RequestId } from "../../src/domain/Ids.ts"
import type { AccountSql } from "../../src/sql/AccountDatabase.ts"
import { ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"
import { fromSql } from "../../src/sql/StoreErrors.ts"
import { record } from "../ledger/fixtures.ts"
import { observedCall } from "./Observed.ts"

/** Nothing changes the keys of a project here. */
export const silent = Layer.succeed(ChangeNotifications, {
  commit: () => Effect.dieMessage("nothing is announced"),
  commitOn: () => (write) => fromSql(write(() => Effect.void)),
  onChange: () => () => {},
  heardAtMillis: () => Number.NEGATIVE_INFINITY
})

/** Samples that are opened, and in which turn of the event loop each was for the first time. */
export class Openings extends Context.Tag("test/capture/Openings")<Openings, Map<string, number>>() {
  static readonly layer = Layer.sync(this, () => new Map())
}

export const observedStore: Layer.Layer<CaptureStore, never, AccountSql | Openings> = Layer.scoped(
  CaptureStore,
  Effect.gen(function* () {
    const store = yield* CaptureStore
    const openings = yield* Openings
    let turn = 0
    const next = () => {
      turn += 1
      immediate = setImmediate(next)
    }
    let immediate = setImmediate(next)
    yield* Effect.addFinalizer(() => Effect.sync(() => clearImmediate(immediate)))
    const observed = (row: SampleRow): SampleRow => ({
      ...row,
      get sealed() {
        if (!openings.has(row.id)) openings.set(row.id, turn)
        return row.sealed
      }
    })
    return {
      ...store,
      ofConversation: (place) => Effect.map(store.ofConversation(place), (rows) => rows.map(observed))
    }
  })
).pipe(Layer.provide(CaptureStore.layer))

export interface StoredConversation {
  readonly projectId: ProjectId
  readonly name: string
  readonly day: string
  readonly capturedAt: Date
  readonly expiresAt: Date
  /** One for each call. */
  readonly prompts: ReadonlyArray<ReadonlyArray<Message>>
}

export const times = { day: "2100-01-01", capturedAt: new Date("2100-01-01"), expiresAt: new Date("2100-02-01") }
export const says = (content: string): Message => ({ role: "user", content })
/** Each call has the messages of those before it, and one of its own. */
export const growing = <A>(all: ReadonlyArray<A>) => all.map((_, at) => all.slice(0, at + 1))

/** Writes the calls of one conversation, each on the one before it, sealed under the key of the day. */
export const storedConversation = ({ capturedAt, day, expiresAt, name, projectId, prompts }: StoredConversation) =>
  Effect.gen(function* () {
    const store = yield* CaptureStore
    const place = { projectId, configVersion: 1, conversation: Buffer.from(name.padEnd(16)).toString("hex") }
    yield* store.place(place, 0.5, "chat", day, day)
    const dayKey = yield* (yield* CaptureKeys).ofDay(projectId, day)
    if (dayKey === undefined) throw new Error("there is no key of the day")
    const facts = { ...factsOf(record(), observedCall().request, null) }
    const ids: Array<RequestId> = []
    let base: Base | null = null
    for (const [turn, messages] of prompts.entries()) {
      const id = RequestId.make(`${String(turn).padStart(8, "0")}${randomUUID().slice(8)}`)
      const prompt = { messages, tools: [] }
      const job = { id, project: projectId, day, dayKey: dayKey.key, content: "full" as const, facts, body: undefined }
      const encoded = encode({ ...job, prompt, answer: null }, base)
      base = { id, keys: encoded.keys }
      const { written } = yield* store.write(place, [
        {
          ...place,
          id,
          day,
          dayKey: dayKey.sealed,
          base: encoded.base,
          keyId: KeyId.make(randomUUID()),
          endUser: null,
          flowAuthorized: encoded.mayFlow,
          capturedAt,
          expiresAt,
          shared: encoded.shared,
          sealed: encoded.sealed
        }
      ])
      if (written.size !== 1) throw new Error("the sample was not written")
      ids.push(id)
    }
    return { place, ids }
  })
