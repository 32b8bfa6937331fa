import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Captured } from "../../src/capture/Captured.ts"
import { CaptureKeys } from "../../src/capture/CaptureKeys.ts"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { MasterKey } from "../../src/credentials/MasterKey.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { databases } from "../ledger/databases.ts"
import { masterKey } from "../support/Service.ts"
import { collecting } from "./Collecting.ts"
import { growing, Openings, observedStore, says, silent, storedConversation, times } from "./StoredConversation.ts"

for (const [name, database] of databases) {
  const services = Captured.layer.pipe(
    Layer.provideMerge(CaptureKeys.layer),
    Layer.provideMerge(observedStore),
    Layer.provideMerge(Openings.layer),
    Layer.provide(silent),
    Layer.provide(MasterKey.layer({ current: Redacted.make(masterKey), previous: null, directory: null })),
    Layer.provideMerge(Timers.layer),
    Layer.provideMerge(database)
  )
  layer(services, { timeout: 60_000 })(`captured calls that are read, ${name}`, (it) => {
    const four = Effect.gen(function* () {
      const projectId = yield* collecting({})
      const prompts = growing(["one", "two", "three", "four"].map(says))
      const { ids, place } = yield* storedConversation({ ...times, projectId, name: "four", prompts })
      const openings = yield* Openings
      openings.clear()
      return { captured: yield* Captured, ids, openings, place, projectId, prompts }
    })

    it.effect("are opened one by one, each when it is taken", () =>
      Effect.gen(function* () {
        const { captured, ids, openings, place, projectId } = yield* four
        const taken: Array<ReadonlyArray<string>> = []
        yield* Stream.runForEach(captured.each(projectId, place), () =>
          Effect.sync(() => taken.push([...openings.keys()]))
        )
        expect(taken).toEqual(growing(ids))
      })
    )

    it.effect("are opened in different turns of the event loop", () =>
      Effect.gen(function* () {
        const { captured, ids, openings, place, projectId, prompts } = yield* four
        const calls = yield* captured.calls(projectId, place)
        expect(calls.map(({ request }) => request.messages)).toEqual(prompts)
        expect(new Set(openings.values())).toHaveLength(ids.length)
      })
    )

    it.effect("are read one at a time without those that follow them", () =>
      Effect.gen(function* () {
        const { captured, ids, openings, place, prompts } = yield* four
        const rows = yield* (yield* CaptureStore).ofConversation(place)
        const [, second] = rows
        const call = second && (yield* captured.call(second))
        expect(call?.request.messages).toEqual(prompts[1])
        expect([...openings.keys()]).toEqual(ids.slice(0, 2))
      })
    )
  })
}
