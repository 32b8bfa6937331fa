import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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

/** Only the store is asked: the call of the model dies at once, as all that is not given here does. */
const turnsWith = (end: () => Effect.Effect<never>) =>
  Turns.layer(() => ({ code: "internal_error", message: "failed" })).pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(Artifacts, { tools: [] }),
        Layer.mock(CallRunner, {}),
        Layer.mock(CallTrails, { observer: {}, follow: () => () => {} }),
        Layer.mock(Catalog, { snapshot: notAsked, callerSnapshot: notAsked }),
        Layer.mock(ChangeNotifications, { commitOn: notAsked, onChange: () => () => {} }),
        Layer.mock(Database, { kind: "embedded", prepare: notAsked }),
        Layer.mock(Images, {}),
        Layer.mock(LedgerNode, { id: "node" }),
        Layer.mock(MessageStore, { end, interrupt: () => Effect.succeed([]) }),
        Layer.mock(PersonKeyStore, {}),
        IdGenerator.layer
      )
    ),
    Layer.provideMerge(Timers.layer)
  )

it.live("an answer whose end the store cannot even try to write is over, and can be stopped", () =>
  Effect.gen(function* () {
    const turns = yield* Turns
    let left = 0
    const settings = { model: "auto", artifacts: false }
    yield* turns.start({ answer, caller, settings, history: [] }, () => (left += 1))
    yield* Effect.promise(() => expect.poll(() => left).toBe(1))
    expect(turns.running(conversationId)).toBeUndefined()
    expect(yield* turns.stop(conversationId)).toBe(false)
  }).pipe(Effect.provide(turnsWith(() => Effect.die(new Error("a defect of the store")))))
)
