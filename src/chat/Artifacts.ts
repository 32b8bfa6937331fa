import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { SealingUnavailable } from "../domain/AccountError.ts"
import type { Tool } from "../domain/Chat.ts"
import { dateAt } from "../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { ChatArtifactEventOut, ChatArtifactOut, ChatImageOut, SaveArtifactRequest } from "../wire/account/Chat.ts"
import { type ArtifactCall, artifactCall, done, refused, type ToolResult, tools } from "./ArtifactTools.ts"
import {
  copyArtifacts,
  editDocument,
  putDocument,
  removeArtifact,
  restoreVersion,
  type VersionDeps
} from "./ArtifactVersions.ts"
import { ContentLinks } from "./ContentLinks.ts"
import { type Artifact, ContentStore } from "./ContentStore.ts"
import type { Answer } from "./MessageStore.ts"
import { type Attachments, artifactOut, imageOut } from "./Records.ts"

export interface ArtifactsShape {
  /** What a model may call; none without a master key, since nobody could see what it makes. */
  readonly tools: ReadonlyArray<Tool>
  readonly run: (
    answer: Answer,
    call: { readonly name: string; readonly arguments: string }
  ) => Effect.Effect<ToolResult, StoreUnavailable>
  /** What a person has chosen: the first version of a new artifact, or the next one of what has this name. */
  readonly save: (
    conversation: ConversationId,
    document: SaveArtifactRequest,
    message: MessageId
  ) => Effect.Effect<ChatArtifactOut, InvalidRequest | SealingUnavailable | StoreUnavailable>
  /** An earlier version, restored as the newest; `undefined` where there is no such version. */
  readonly restore: (
    conversation: ConversationId,
    artifact: string,
    version: number,
    message: MessageId
  ) => Effect.Effect<ChatArtifactOut | undefined, InvalidRequest | StoreUnavailable>
  /** The name of what is removed; `undefined` where there is none. The calls that have written it keep their text. */
  readonly remove: (
    conversation: ConversationId,
    artifact: string,
    message: MessageId
  ) => Effect.Effect<string | undefined, StoreUnavailable>
  readonly versions: (
    conversation: ConversationId,
    artifact: string
  ) => Effect.Effect<ReadonlyArray<ChatArtifactOut>, StoreUnavailable>
  /** Into another conversation, as they were at the end of these messages: their last versions, with all before. */
  readonly copy: (
    from: ConversationId,
    to: ConversationId,
    messages: ReadonlyMap<MessageId, MessageId>
  ) => Effect.Effect<void, StoreUnavailable>
  readonly attachmentsOf: (conversation: ConversationId) => Effect.Effect<Attachments, StoreUnavailable>
}

/** Documents that models make in conversations, version after version. */
export class Artifacts extends Context.Tag("gateway/chat/Artifacts")<Artifacts, ArtifactsShape>() {
  static readonly layer: Layer.Layer<
    Artifacts,
    never,
    AccountTransactions | ContentLinks | ContentStore | IdGenerator | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* ContentStore
  const links = yield* ContentLinks
  const transactions = yield* AccountTransactions
  const timers = yield* Timers
  const deps: VersionDeps = { store, ids: yield* IdGenerator, now: () => dateAt(timers.now()) }

  const out = (artifact: Artifact) =>
    artifactOut(artifact, links.urlOf({ kind: "artifacts", id: artifact.id, version: artifact.version }))

  const run = (answer: Answer, call: ArtifactCall) =>
    Effect.map(
      call._tag === "Write" ? putDocument(deps, answer, call.document) : editDocument(deps, answer, call.edit),
      Either.match({
        onLeft: refused,
        onRight: ({ action, artifact }) => done({ action, artifact: out(artifact) })
      })
    )

  return Artifacts.of({
    tools: links.isAvailable ? tools : [],
    run: (answer, { arguments: json, name }) =>
      transactions.commit(() =>
        Either.match(artifactCall(name, json), {
          onLeft: (reason) => Effect.succeed(refused(reason)),
          onRight: (call) => run(answer, call)
        })
      ),
    save: (conversationId, document, id) =>
      Effect.gen(function* () {
        if (!links.isAvailable) return yield* noMasterKey
        const made = yield* putDocument(deps, { id, conversationId }, document)
        return Either.isLeft(made) ? yield* noRoom(made.left, "name") : out(made.right.artifact)
      }),
    restore: (conversationId, artifact, version, id) =>
      Effect.gen(function* () {
        const made = yield* restoreVersion(deps, { id, conversationId }, artifact, version)
        if (made === undefined) return undefined
        return Either.isLeft(made) ? yield* noRoom(made.left, null) : out(made.right)
      }),
    remove: (conversationId, artifact, id) => removeArtifact(deps, { id, conversationId }, artifact),
    versions: (conversation, artifact) => Effect.map(store.versions(conversation, artifact), (rows) => rows.map(out)),
    copy: (from, to, messages) => copyArtifacts(deps, from, to, messages),
    attachmentsOf: (conversation) =>
      Effect.gen(function* () {
        const images = new Map<MessageId, Array<ChatImageOut>>()
        for (const image of yield* store.images(conversation)) {
          add(images, image.messageId, imageOut(image, links.urlOf({ kind: "images", id: image.id })))
        }
        const events = new Map<MessageId, Array<ChatArtifactEventOut>>()
        for (const event of yield* store.events(conversation)) {
          add(events, event.messageId, { action: event.action, artifact: out(event) })
        }
        return { images, events, artifacts: (yield* store.artifacts(conversation)).map(out) }
      })
  })
})

const add = <A>(lists: Map<MessageId, Array<A>>, message: MessageId, one: A): void => {
  const list = lists.get(message)
  if (list === undefined) lists.set(message, [one])
  else list.push(one)
}

const noRoom = (message: string, param: string | null) => new InvalidRequest({ code: "invalid_value", message, param })
const noMasterKey = new SealingUnavailable({
  message: "Artifacts need signed links: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})
