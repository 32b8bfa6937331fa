import * as Layer from "effect/Layer"
import { ConversationStore } from "../chat/ConversationStore.ts"
import { Conversations } from "../chat/Conversations.ts"
import { Following } from "../chat/Following.ts"
import { MessageStore } from "../chat/MessageStore.ts"
import { Turns } from "../chat/Turns.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import { describeFailure } from "./ActivityServices.ts"

/** Conversations of people with models. */
export const chatServices = Following.layer.pipe(
  Layer.provideMerge(Conversations.layer),
  Layer.provideMerge(
    // the same node as in the ledger: a layer is built once
    Turns.layer((error) => {
      const { code, message } = describeFailure(error)
      return { code, message }
    }).pipe(Layer.provide(LedgerNode.layer))
  ),
  Layer.provide([ConversationStore.layer, MessageStore.layer])
)
