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
import {
  type ArtifactCall,
  artifactCall,
  done,
  type Edit,
  edited,
  invalidity,
  refused,
  type ToolResult,
  tools
} from "./ArtifactTools.ts"
import { ContentLinks } from "./ContentLinks.ts"
import { type Artifact, type ArtifactEvent, ContentStore, type NewVersion } from "./ContentStore.ts"
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
  /** An earlier version, restored as the newest; `undefined` where there is no such version, or no room. */
  readonly restore: (
    conversation: ConversationId,
    artifact: string,
    version: number,
    message: MessageId
  ) => Effect.Effect<ChatArtifactOut | undefined, StoreUnavailable>
  /** False where there is none. */
  readonly remove: (
    conversation: ConversationId,
    artifact: string,
    message: MessageId
  ) => Effect.Effect<boolean, StoreUnavailable>
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

const maxVersions = 100
const maxArtifacts = 20

type Document = Pick<Artifact, "mediaType" | "name"> & Pick<NewVersion, "content">

const make = Effect.gen(function* () {
  const store = yield* ContentStore
  const links = yield* ContentLinks
  const transactions = yield* AccountTransactions
  const ids = yield* IdGenerator
  const timers = yield* Timers
  const now = () => dateAt(timers.now())

  const out = (artifact: Artifact) =>
    artifactOut(artifact, links.urlOf({ kind: "artifacts", id: artifact.id, version: artifact.version }))

  const named = (conversation: ConversationId, name: string) =>
    Effect.map(store.artifacts(conversation), (all) => ({ all, found: all.find((one) => one.name === name) }))

  const note = (action: ArtifactEvent["action"], artifact: string, version: number, messageId: MessageId) =>
    store.addEvent({ id: ids.uuid(), artifact, version, messageId, action }, now())

  /** The next version of what there is under this name, or the first of a new artifact. */
  const addVersion = (
    { conversationId, id: messageId }: Answer,
    found: Artifact | undefined,
    { content, mediaType, name }: Document,
    action: "created" | "updated" | "restored"
  ) =>
    Effect.gen(function* () {
      const id = found?.id ?? ids.uuid()
      const version = (found?.version ?? 0) + 1
      if (found === undefined) yield* store.createArtifact(conversationId, id, name, now())
      yield* store.addVersion(id, { version, mediaType, content }, now())
      yield* note(action, id, version, messageId)
      const [made] = yield* store.versions(conversationId, id)
      if (made === undefined) return yield* Effect.dieMessage("a version that was written just now is found")
      return out(made)
    })

  /** A whole document; on the left why there is no room for it. */
  const put = (answer: Answer, { content, media_type, name }: SaveArtifactRequest) =>
    Effect.gen(function* () {
      const { all, found } = yield* named(answer.conversationId, name)
      if (found === undefined && all.length >= maxArtifacts) {
        return Either.left(`A conversation has at most ${maxArtifacts} artifacts.`)
      }
      if (found !== undefined && found.version >= maxVersions) return Either.left(noMoreVersions)
      const action = found === undefined ? "created" : "updated"
      const artifact = yield* addVersion(answer, found, { name, mediaType: media_type, content }, action)
      return Either.right<ChatArtifactEventOut>({ action, artifact })
    })

  /** A part of a document; on the left why it stays as it is. */
  const edit = (answer: Answer, { name, new_text, old_text }: Edit) =>
    Effect.gen(function* () {
      const { found } = yield* named(answer.conversationId, name)
      const before = found === undefined ? undefined : yield* store.contentOf(found.id, found.version)
      if (found === undefined || before === undefined) return Either.left(`There is no artifact '${name}'.`)
      const after = edited(before.content, { old_text, new_text })
      if (Either.isLeft(after)) return Either.left(after.left)
      if (found.version >= maxVersions) return Either.left(noMoreVersions)
      const invalid = invalidity(after.right)
      if (invalid !== undefined) return Either.left(invalid)
      const document = { name, mediaType: found.mediaType, content: after.right }
      const artifact = yield* addVersion(answer, found, document, "updated")
      return Either.right<ChatArtifactEventOut>({ action: "updated", artifact })
    })

  const run = (answer: Answer, call: ArtifactCall) =>
    Effect.map(
      call._tag === "Write" ? put(answer, call.document) : edit(answer, call.edit),
      Either.match({ onLeft: refused, onRight: done })
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
        const made = yield* put({ id, conversationId }, document)
        return Either.isLeft(made) ? yield* noRoom(made.left) : made.right.artifact
      }),
    restore: (conversationId, artifact, version, message) =>
      Effect.gen(function* () {
        const [latest] = yield* store.versions(conversationId, artifact)
        const before = latest === undefined ? undefined : yield* store.contentOf(artifact, version)
        if (latest === undefined || before === undefined || latest.version >= maxVersions) return undefined
        return yield* addVersion({ id: message, conversationId }, latest, before, "restored")
      }),
    remove: (conversationId, artifact, messageId) =>
      Effect.gen(function* () {
        const [latest] = yield* store.versions(conversationId, artifact)
        if (latest === undefined) return false
        yield* store.deleteArtifact(artifact, now())
        yield* note("deleted", artifact, latest.version, messageId)
        return true
      }),
    versions: (conversation, artifact) => Effect.map(store.versions(conversation, artifact), (rows) => rows.map(out)),
    copy: (from, to, messages) =>
      Effect.gen(function* () {
        const copies = new Map<string, string>()
        for (const { action, id, messageId, name, version } of yield* store.events(from)) {
          const message = messages.get(messageId)
          if (message === undefined) continue
          const copy = copies.get(id) ?? ids.uuid()
          if (!copies.has(id)) yield* store.createArtifact(to, copy, name, now())
          copies.set(id, copy)
          const content = action === "deleted" ? undefined : yield* store.contentOf(id, version)
          if (content !== undefined) yield* store.addVersion(copy, { ...content, version }, now())
          yield* note(action, copy, version, message)
          if (action === "deleted") yield* store.deleteArtifact(copy, now())
        }
      }),
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

const noRoom = (message: string) => new InvalidRequest({ code: "invalid_value", message, param: "name" })
const noMasterKey = new SealingUnavailable({
  message: "Artifacts need signed links: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})

const noMoreVersions = `An artifact has at most ${maxVersions} versions: create one with another name.`
