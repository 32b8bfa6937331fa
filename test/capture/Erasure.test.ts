import { randomBytes } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Captured } from "../../src/capture/Captured.ts"
import { CaptureKeys } from "../../src/capture/CaptureKeys.ts"
import { CaptureErasure } from "../../src/capture/Erasure.ts"
import { maxNewBytes } from "../../src/capture/worker/sample.js"
import { MasterKey } from "../../src/credentials/MasterKey.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { AccountTransactions } from "../../src/sql/AccountDatabase.ts"
import { databases } from "../ledger/databases.ts"
import { masterKey } from "../support/Service.ts"
import { collecting } from "./Collecting.ts"
import { growing, Openings, observedStore, says, silent, storedConversation, times } from "./StoredConversation.ts"

for (const [name, database] of databases) {
  const services = CaptureErasure.layer.pipe(
    Layer.provideMerge(Captured.layer),
    Layer.provideMerge(CaptureKeys.layer),
    Layer.provideMerge(observedStore),
    Layer.provideMerge(Openings.layer),
    Layer.provide(AccountTransactions.layer),
    Layer.provide(silent),
    Layer.provide(MasterKey.layer({ current: Redacted.make(masterKey), previous: null, directory: null })),
    Layer.provideMerge(Timers.layer),
    Layer.provideMerge(database)
  )
  layer(services, { timeout: 60_000 })(`an erasure, ${name}`, (it) => {
    it.effect("leaves the other calls of a conversation whole, however large they are together", () =>
      Effect.gen(function* () {
        const projectId = yield* collecting({})
        const long = randomBytes(maxNewBytes / 4).toString("hex")
        const messages = [`one ${long}`, `two ${long}`, `three ${long}`, "four", "five"].map(says)
        const conversation = { ...times, projectId, name: "long", prompts: growing(messages) }
        const { ids, place } = yield* storedConversation(conversation)
        const read = Effect.flatMap(Captured, (captured) => captured.calls(projectId, place))
        const before = yield* read
        expect(before.map(({ flowAuthorized, truncated }) => [flowAuthorized, truncated])).toEqual(
          ids.map(() => [true, false])
        )
        expect(yield* (yield* CaptureErasure).erase(projectId, { _tag: "Sample", id: ids[0] ?? "" })).toBe(1)
        expect(yield* read).toEqual(before.slice(1))
      })
    )

    it.effect("gives way to other work before each call that it reads", () =>
      Effect.gen(function* () {
        const projectId = yield* collecting({})
        const prompts = growing(["one", "two", "three", "four", "five"].map(says))
        const { ids } = yield* storedConversation({ ...times, projectId, name: "by turns", prompts })
        const openings = yield* Openings
        openings.clear()
        yield* (yield* CaptureErasure).erase(projectId, { _tag: "Sample", id: ids[1] ?? "" })
        expect([...openings.keys()]).toEqual(ids)
        expect(new Set(openings.values())).toHaveLength(ids.length)
      })
    )

    it.effect("lets no call flow whose text is not there any more", () =>
      Effect.gen(function* () {
        const projectId = yield* collecting({})
        const messages = ["one", "x".repeat(maxNewBytes + 1)].map(says)
        const conversation = { ...times, projectId, name: "too long", prompts: growing(messages) }
        const { ids, place } = yield* storedConversation(conversation)
        const sql = yield* SqlClient
        yield* sql`update capture_sample set flow_authorized = true where id = ${ids[1] ?? ""}`
        yield* (yield* CaptureErasure).erase(projectId, { _tag: "Sample", id: ids[0] ?? "" })
        const left = yield* (yield* Captured).calls(projectId, place)
        expect(left.map(({ flowAuthorized, truncated }) => [flowAuthorized, truncated])).toEqual([[false, true]])
      })
    )
  })
}
