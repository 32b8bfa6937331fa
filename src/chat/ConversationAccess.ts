import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../audit/Audit.ts"
import { ConversationRunning, NotFound } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ConversationId } from "../domain/Ids.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { type Conversation, ConversationStore } from "./ConversationStore.ts"

export interface ConversationAccessShape {
  readonly find: (id: ConversationId) => Effect.Effect<Conversation, NotFound | StoreUnavailable, CurrentUser>
  /** Until the end of the transaction nobody else changes it. */
  readonly lock: (id: ConversationId) => Effect.Effect<Conversation, NotFound | StoreUnavailable, CurrentUser>
  /** In the audit log of the account that pays. */
  readonly record: (
    action: string,
    conversation: Pick<Conversation, "id" | "projectId">,
    after: object | null
  ) => Effect.Effect<void, NotFound | StoreUnavailable, CurrentUser>
}

/** The conversations of the current user, one by one: those of others are not found. */
export class ConversationAccess extends Context.Tag("gateway/chat/ConversationAccess")<
  ConversationAccess,
  ConversationAccessShape
>() {
  static readonly layer: Layer.Layer<ConversationAccess, never, Audit | ConversationStore | ProjectAccess> =
    Layer.effect(
      this,
      Effect.suspend(() => make)
    )
}

const make = Effect.gen(function* () {
  const store = yield* ConversationStore
  const access = yield* ProjectAccess
  const audit = yield* Audit
  return ConversationAccess.of({
    find: (id) =>
      Effect.gen(function* () {
        const { userId } = yield* CurrentUser
        return (yield* store.find(id, userId)) ?? (yield* noSuchConversation)
      }),
    lock: (id) =>
      Effect.gen(function* () {
        const { userId } = yield* CurrentUser
        const found = yield* store.lock(id, userId)
        return found === undefined || found.deletedAt !== null ? yield* noSuchConversation : found
      }),
    record: (action, { id, projectId }, after) =>
      Effect.gen(function* () {
        const { accountId } = yield* access.find(projectId)
        yield* audit.record({
          accountId,
          action,
          target: { kind: "conversation", id },
          before: null,
          after
        })
      })
  })
})

export const noSuchConversation = new NotFound({ message: "Conversation not found." })
export const noSuchMessage = new NotFound({ message: "Message not found." })
export const isRunning = new ConversationRunning({
  message: "An answer in this conversation is still being generated."
})
