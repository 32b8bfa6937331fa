import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { expect } from "vitest"
import { PersonKeyStore } from "../../src/account/keys/PersonKeyStore.ts"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { Artifacts } from "../../src/chat/Artifacts.ts"
import { Images } from "../../src/chat/Images.ts"
import { MessageStore } from "../../src/chat/MessageStore.ts"
import { Turns } from "../../src/chat/Turns.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { ConversationId, MessageId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { CallRunner } from "../../src/gateway/CallRunner.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import { CallTrails } from "../../src/observe/CallTrails.ts"
import { ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"
import { Database } from "../../src/sql/Database.ts"
import { caller } from "../support/InProcess.ts"

const conversationId = ConversationId.make("01990000-0000-7000-8000-000000000001")
const answer = { conversationId, id: MessageId.make("01990000-0000-7000-8000-000000000002") }

const notAsked = () => {
  throw new Error("this test asks for nothing here")
}

interface Given {
  readonly end: () => Effect.Effect<never>
  readonly write?: () => Effect.Effect<never>
  /** What the model says before it falls silent; unset: its call dies at once, as all does that is not given here. */
  readonly said?: string
}

const turnsWith = ({ end, said, write }: Given) =>
  Turns.layer(() => ({ code: "internal_error", message: "failed" })).pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(Artifacts, { tools: [] }),
        Layer.mock(
          CallRunner,
          said === undefined
            ? {}
            : {
                relay: (_caller, _request, sink) => {
                  sink.event({ _tag: "Text", text: said })
                  return Effect.never
                }
              }
        ),
        Layer.mock(CallTrails, { observer: {}, follow: () => () => {} }),
        Layer.mock(Catalog, { snapshot: notAsked, callerSnapshot: notAsked }),
        Layer.mock(ChangeNotifications, {
          commitOn: notAsked,
          onChange: () => () => {},
          heardAtMillis: () => Number.NEGATIVE_INFINITY
        }),
        Layer.mock(Database, { kind: "embedded", prepare: notAsked }),
        Layer.mock(Images, said === undefined ? {} : { dataUrls: () => Effect.succeed(new Map()) }),
        Layer.mock(LedgerNode, { id: "node" }),
        Layer.mock(MessageStore, {
          end,
          interrupt: () => Effect.succeed([]),
          ...(write === undefined ? {} : { write })
        }),
        Layer.mock(PersonKeyStore, {}),
        IdGenerator.layer
      )
    ),
    Layer.provideMerge(Timers.layer)
  )

const settings = { model: "auto", artifacts: false, system: "Be brief." }
const dies = () => Effect.die(new Error("a defect of the store"))

it.live("an answer whose end the store cannot even try to write is over, and can be stopped", () =>
  Effect.gen(function* () {
    const turns = yield* Turns
    let left = 0
    yield* turns.start({ answer, caller, settings, history: [] }, () => (left += 1))
    yield* Effect.promise(() => expect.poll(() => left).toBe(1))
    expect(turns.running(conversationId)).toBeUndefined()
    expect(yield* turns.stop(conversationId)).toBe(false)
  }).pipe(Effect.provide(turnsWith({ end: dies })))
)

it.effect("text that the store does not take is offered to it again only after a pause", () => {
  let writes = 0
  const write = () => {
    writes += 1
    return dies()
  }
  return Effect.gen(function* () {
    const turns = yield* Turns
    yield* turns.start({ answer, caller, settings, history: [] }, () => {})
    // far more than is written at once
    yield* TestClock.adjust("499 millis")
    expect(writes).toBe(1)
    yield* TestClock.adjust("1 millis")
    expect(writes).toBe(2)
    yield* TestClock.adjust("1 seconds")
    expect(writes).toBe(4)
  }).pipe(Effect.provide(turnsWith({ end: dies, said: "a".repeat(20_000), write })))
})
