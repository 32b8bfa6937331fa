import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ConversationRunning, NotFound, type SealingUnavailable } from "../domain/AccountError.ts"
import type { CurrentUser } from "../domain/CurrentUser.ts"
import type { InvalidRequest, StoreUnavailable } from "../domain/GatewayError.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { ChatArtifactOut, SaveArtifactRequest } from "../wire/account/Chat.ts"
import { Artifacts } from "./Artifacts.ts"
import { ConversationAccess, isRunning } from "./ConversationAccess.ts"
import { withoutArtifact } from "./ErasedCalls.ts"
import { type Message, MessageStore } from "./MessageStore.ts"
import { StorageLimits } from "./StorageLimits.ts"

type Found = NotFound | StoreUnavailable

export interface ConversationArtifactsShape {
  /** Of an artifact, the newest first. */
  readonly versions: (
    id: ConversationId,
    artifact: string
  ) => Effect.Effect<ReadonlyArray<ChatArtifactOut>, Found, CurrentUser>
  /** What a person keeps of an answer, as the first or the next version of an artifact. */
  readonly save: (
    id: ConversationId,
    document: SaveArtifactRequest
  ) => Effect.Effect<ChatArtifactOut, Found | ConversationRunning | InvalidRequest | SealingUnavailable, CurrentUser>
  /** An earlier version, restored as the newest. */
  readonly restore: (
    id: ConversationId,
    artifact: string,
    version: number
  ) => Effect.Effect<ChatArtifactOut, Found | ConversationRunning | InvalidRequest, CurrentUser>
  readonly remove: (
    id: ConversationId,
    artifact: string
  ) => Effect.Effect<void, Found | ConversationRunning, CurrentUser>
}

/** What the current user does with the artifacts of their conversations. */
export class ConversationArtifacts extends Context.Tag("gateway/chat/ConversationArtifacts")<
  ConversationArtifacts,
  ConversationArtifactsShape
>() {
  static readonly layer: Layer.Layer<
    ConversationArtifacts,
    never,
    AccountTransactions | Artifacts | ConversationAccess | MessageStore | StorageLimits
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const conversations = yield* ConversationAccess
  const messages = yield* MessageStore
  const artifacts = yield* Artifacts
  const limits = yield* StorageLimits
  const transactions = yield* AccountTransactions

  /** On the last answer; not while one is being written, which may change the same. */
  const change = <A, E>(
    id: ConversationId,
    action: string,
    run: (
      message: MessageId,
      written: ReadonlyArray<Message>
    ) => Effect.Effect<{ readonly artifact: string; readonly made: A }, E, CurrentUser>
  ): Effect.Effect<A, E | Found | ConversationRunning, CurrentUser> =>
    transactions.commit(() =>
      Effect.gen(function* () {
        const conversation = yield* conversations.lock(id)
        if (conversation.turnId !== null) return yield* isRunning
        const written = yield* messages.list(id)
        const last = written.findLast(({ isCurrent, role }) => isCurrent && role === "assistant")
        if (last === undefined) return yield* noAnswer
        const { artifact, made } = yield* run(last.id, written)
        yield* conversations.record(action, conversation, { artifact_id: artifact })
        return made
      })
    )

  return ConversationArtifacts.of({
    versions: (id, artifact) =>
      Effect.gen(function* () {
        yield* conversations.find(id)
        const found = yield* artifacts.versions(id, artifact)
        return found.length === 0 ? yield* noSuchArtifact : found
      }),
    save: (id, document) =>
      change(id, "artifact.save", (message) =>
        Effect.gen(function* () {
          const made = yield* artifacts.save(id, document, message)
          yield* limits.addBytes(id, made.size_bytes)
          return { artifact: made.id, made }
        })
      ),
    restore: (id, artifact, version) =>
      change(id, "artifact.restore", (message) =>
        Effect.gen(function* () {
          const made = yield* artifacts.restore(id, artifact, version, message)
          if (made === undefined) return yield* noSuchArtifact
          yield* limits.addBytes(id, made.size_bytes)
          return { artifact, made }
        })
      ),
    remove: (id, artifact) =>
      change(id, "artifact.delete", (message, written) =>
        Effect.gen(function* () {
          const name = yield* artifacts.remove(id, artifact, message)
          if (name === undefined) return yield* noSuchArtifact
          // models read the calls of earlier answers again, and forks copy them
          for (const one of written) {
            const steps = withoutArtifact(one.steps, name)
            if (steps !== undefined) yield* messages.replaceSteps(one.id, steps)
          }
          return { artifact, made: undefined }
        })
      )
  })
})

const noSuchArtifact = new NotFound({ message: "Artifact or version not found." })
const noAnswer = new NotFound({ message: "The conversation has no answer yet." })
