import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { ConversationId } from "../domain/Ids.ts"
import { ContentStore } from "./ContentStore.ts"
import { ConversationStore } from "./ConversationStore.ts"

type Checked = Effect.Effect<void, InvalidRequest | StoreUnavailable, CurrentUser>

export interface StorageLimitsShape {
  /** Fails where the current user has as many conversations as a person may have. */
  readonly requireConversation: Checked
  /** Fails where the current user would store more than a person may. */
  readonly requireBytes: (bytes: number) => Checked
  /** The same for bytes that a conversation is to have, which count from then on. */
  readonly addBytes: (id: ConversationId, bytes: number) => Checked
}

/** What one person may store that no call pays for; in the transaction that writes it, to whose end the person's others wait. */
export class StorageLimits extends Context.Tag("gateway/chat/StorageLimits")<StorageLimits, StorageLimitsShape>() {
  static readonly layer: Layer.Layer<StorageLimits, never, ContentStore | ConversationStore> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxConversations = 10_000
const gibibyte = 1024 ** 3
const maxGibibytes = 10

const make = Effect.gen(function* () {
  const conversations = yield* ConversationStore
  const contents = yield* ContentStore

  const requireBytes: StorageLimitsShape["requireBytes"] = (bytes) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      yield* conversations.lockStored(userId)
      const images = yield* contents.imageBytes(userId)
      const added = yield* conversations.addedBytes(userId)
      if (images + added + bytes > maxGibibytes * gibibyte) return yield* tooManyBytes
    })

  return StorageLimits.of({
    requireConversation: Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      yield* conversations.lockStored(userId)
      if ((yield* conversations.count(userId)) >= maxConversations) return yield* tooManyConversations
    }),
    requireBytes,
    addBytes: (id, bytes) => Effect.zipRight(requireBytes(bytes), conversations.addBytes(id, bytes))
  })
})

const refused = (message: string) => new InvalidRequest({ code: "invalid_value", message, param: null })
const tooManyConversations = refused(
  `You have reached the maximum of ${maxConversations} conversations: delete conversations that you no longer need.`
)
const tooManyBytes = refused(
  `Storage is limited to ${maxGibibytes} GiB of images, saved artifacts and copied conversations: delete conversations; their space is released within 10 minutes.`
)
