import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CaptureKeys } from "../../src/capture/CaptureKeys.ts"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { factsOf } from "../../src/capture/Facts.ts"
import { type Base, encode } from "../../src/capture/worker/sample.js"
import type { Message } from "../../src/domain/Chat.ts"
import { KeyId, type ProjectId, RequestId } from "../../src/domain/Ids.ts"
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

export interface StoredConversation {
  readonly projectId: ProjectId
  readonly name: string
  readonly day: string
  readonly capturedAt: Date
  readonly expiresAt: Date
  /** One for each call. */
  readonly prompts: ReadonlyArray<ReadonlyArray<Message>>
}

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
