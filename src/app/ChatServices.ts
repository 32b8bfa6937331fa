import * as Layer from "effect/Layer"
import { Artifacts } from "../chat/Artifacts.ts"
import { ContentLinks } from "../chat/ContentLinks.ts"
import { ContentStore } from "../chat/ContentStore.ts"
import { ConversationAccess } from "../chat/ConversationAccess.ts"
import { ConversationArtifacts } from "../chat/ConversationArtifacts.ts"
import { ConversationStore } from "../chat/ConversationStore.ts"
import { Conversations } from "../chat/Conversations.ts"
import { erasing } from "../chat/Erasure.ts"
import { Following } from "../chat/Following.ts"
import { Images } from "../chat/Images.ts"
import { MessageStore } from "../chat/MessageStore.ts"
import { Objects } from "../chat/Objects.ts"
import { Questions } from "../chat/Questions.ts"
import * as S3Objects from "../chat/S3Objects.ts"
import { StorageLimits } from "../chat/StorageLimits.ts"
import { Turns } from "../chat/Turns.ts"
import type { Settings } from "../config/Settings.ts"
import * as OutgoingHttp from "../egress/OutgoingHttp.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import { describeFailure } from "./ActivityServices.ts"

/** Conversations of people with models. */
export const chatServices = ({
  dataDirectory,
  objectStore,
  proxy
}: Pick<Settings, "dataDirectory" | "objectStore" | "proxy">) => {
  const objects =
    objectStore === null
      ? Objects.layer(dataDirectory)
      : S3Objects.layer(objectStore).pipe(Layer.provide(OutgoingHttp.layer(proxy)))
  const contents = Layer.merge(Artifacts.layer, Images.layer).pipe(
    Layer.provideMerge(StorageLimits.layer),
    Layer.provideMerge(
      Layer.mergeAll(ContentLinks.layer, ContentStore.layer, ConversationStore.layer, MessageStore.layer, objects)
    )
  )
  const turns = Turns.layer((error) => {
    const { code, message } = describeFailure(error)
    return { code, message }
    // the same node as in the ledger: a layer is built once
  }).pipe(Layer.provide(LedgerNode.layer))
  return Layer.merge(Following.layer, erasing).pipe(
    Layer.provideMerge(
      Layer.merge(Conversations.layer, ConversationArtifacts.layer).pipe(
        Layer.provideMerge(Questions.layer),
        Layer.provide(ConversationAccess.layer)
      )
    ),
    Layer.provideMerge(turns),
    Layer.provideMerge(contents)
  )
}
