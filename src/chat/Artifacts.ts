import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { SealingUnavailable } from "../domain/AccountError.ts"
import type { Tool } from "../domain/Chat.ts"
import { dateAt } from "../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import {
  artifactFields,
  type ChatArtifactEventOut,
  type ChatArtifactOut,
  type ChatImageOut,
  maxArtifactBytes,
  type SaveArtifactRequest
} from "../wire/account/Chat.ts"
import { ContentLinks } from "./ContentLinks.ts"
import { type Artifact, ContentStore, type Image } from "./ContentStore.ts"
import type { Answer } from "./MessageStore.ts"
import type { Attachments } from "./Records.ts"

/** The result of a tool call, as the model sees it. */
export interface ToolResult {
  readonly result: string
  readonly isError: boolean
  /** What was done, for those who follow. */
  readonly event?: ChatArtifactEventOut
}

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
  readonly imageOut: (image: Image) => ChatImageOut
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

const decodeWrite = Schema.decodeUnknownEither(Schema.parseJson(Schema.Struct(artifactFields)))
const decodeEdit = Schema.decodeUnknownEither(
  Schema.parseJson(
    Schema.Struct({ name: artifactFields.name, old_text: Schema.NonEmptyString, new_text: Schema.String })
  )
)

export const writeTool = "write_artifact"
const editTool = "edit_artifact"

const make = Effect.gen(function* () {
  const store = yield* ContentStore
  const links = yield* ContentLinks
  const transactions = yield* AccountTransactions
  const ids = yield* IdGenerator
  const timers = yield* Timers
  const now = () => dateAt(timers.now())

  const artifactOut = ({
    createdAt,
    id,
    mediaType,
    name,
    sizeBytes,
    updatedAt,
    version
  }: Artifact): ChatArtifactOut => {
    const content_url = links.urlOf({ kind: "artifacts", id, version })
    return {
      id,
      name,
      media_type: mediaType,
      size_bytes: sizeBytes,
      version,
      created_at: createdAt,
      updated_at: updatedAt,
      content_url,
      download_url: `${content_url}&download=1`
    }
  }
  const imageOut = ({ filename, id, mediaType, sizeBytes }: Image): ChatImageOut => ({
    id,
    filename,
    media_type: mediaType,
    size_bytes: sizeBytes,
    url: links.urlOf({ kind: "images", id })
  })

  /** The next version of what there is under this name, or the first of a new artifact. */
  const written = (
    { conversationId, id: messageId }: Answer,
    name: string,
    mediaType: string,
    content: string,
    found: Artifact | undefined,
    action: "created" | "updated" | "restored"
  ) =>
    Effect.gen(function* () {
      const id = found?.id ?? ids.uuid()
      const version = (found?.version ?? 0) + 1
      if (found === undefined) yield* store.createArtifact(conversationId, id, name, now())
      yield* store.addVersion(id, { version, mediaType, content }, now())
      yield* store.addEvent({ id: ids.uuid(), artifact: id, version, messageId, action }, now())
      const [made] = yield* store.versions(conversationId, id)
      if (made === undefined) return yield* Effect.dieMessage("a version that was written just now is found")
      return artifactOut(made)
    })

  /** A whole document; on the left why there is no room for it. */
  const put = (answer: Answer, { content, media_type, name }: SaveArtifactRequest) =>
    Effect.gen(function* () {
      const all = yield* store.artifacts(answer.conversationId)
      const found = all.find((artifact) => artifact.name === name)
      if (found === undefined && all.length >= maxArtifacts) {
        return Either.left(`A conversation has at most ${maxArtifacts} artifacts.`)
      }
      if (found !== undefined && found.version >= maxVersions) return Either.left(noMoreVersions)
      const action = found === undefined ? "created" : "updated"
      return Either.right(done(yield* written(answer, name, media_type, content, found, action), action))
    })

  const write = (answer: Answer, json: string) => {
    const decoded = decodeWrite(json)
    return Either.isLeft(decoded)
      ? Effect.succeed(refused(`The arguments are not valid: ${reasonOf(decoded.left)}`))
      : Effect.map(put(answer, decoded.right), Either.getOrElse(refused))
  }

  const edit = (answer: Answer, json: string) =>
    Effect.gen(function* () {
      const decoded = decodeEdit(json)
      if (Either.isLeft(decoded)) return refused(`The arguments are not valid: ${reasonOf(decoded.left)}`)
      const { name, new_text, old_text } = decoded.right
      const found = (yield* store.artifacts(answer.conversationId)).find((artifact) => artifact.name === name)
      const before = found === undefined ? undefined : yield* store.contentOf(found.id, found.version)
      if (found === undefined || before === undefined) return refused(`There is no artifact '${name}'.`)
      const [head, tail, ...more] = before.content.split(old_text)
      if (head === undefined || tail === undefined) return refused("old_text does not occur in it.")
      if (more.length > 0) return refused("old_text occurs in it more than once: give more of the text around it.")
      if (found.version >= maxVersions) return refused(noMoreVersions)
      const content = head + new_text + tail
      if (content.includes("\0")) return refused("new_text must not contain NUL.")
      if (Buffer.byteLength(content) > maxArtifactBytes) return refused("It would be too large.")
      return done(yield* written(answer, name, found.mediaType, content, found, "updated"), "updated")
    })

  return Artifacts.of({
    tools: links.isAvailable ? tools : [],
    run: (answer, { arguments: json, name }) =>
      transactions.commit(() =>
        name === writeTool
          ? write(answer, json)
          : name === editTool
            ? edit(answer, json)
            : Effect.succeed(refused(`There is no tool '${name}'.`))
      ),
    save: (conversationId, document, id) =>
      Effect.gen(function* () {
        if (!links.isAvailable) return yield* noMasterKey
        const made = yield* put({ id, conversationId }, document)
        return Either.isLeft(made) ? yield* noRoom(made.left) : made.right.event.artifact
      }),
    restore: (conversationId, artifact, version, message) =>
      Effect.gen(function* () {
        const [latest] = yield* store.versions(conversationId, artifact)
        const before = latest === undefined ? undefined : yield* store.contentOf(artifact, version)
        if (latest === undefined || before === undefined || latest.version >= maxVersions) return undefined
        const answer = { id: message, conversationId }
        return yield* written(answer, latest.name, before.mediaType, before.content, latest, "restored")
      }),
    remove: (conversationId, artifact, messageId) =>
      Effect.gen(function* () {
        const [latest] = yield* store.versions(conversationId, artifact)
        if (latest === undefined) return false
        yield* store.deleteArtifact(artifact, now())
        const event = { id: ids.uuid(), artifact, version: latest.version, messageId, action: "deleted" } as const
        yield* store.addEvent(event, now())
        return true
      }),
    versions: (conversation, artifact) =>
      Effect.map(store.versions(conversation, artifact), (rows) => rows.map(artifactOut)),
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
          yield* store.addEvent({ id: ids.uuid(), artifact: copy, version, messageId: message, action }, now())
          if (action === "deleted") yield* store.deleteArtifact(copy, now())
        }
      }),
    attachmentsOf: (conversation) =>
      Effect.gen(function* () {
        const images = new Map<MessageId, Array<ChatImageOut>>()
        for (const image of yield* store.images(conversation)) add(images, image.messageId, imageOut(image))
        const events = new Map<MessageId, Array<ChatArtifactEventOut>>()
        for (const event of yield* store.events(conversation)) {
          add(events, event.messageId, { action: event.action, artifact: artifactOut(event) })
        }
        return { images, events, artifacts: (yield* store.artifacts(conversation)).map(artifactOut) }
      }),
    imageOut
  })
})

const add = <A>(lists: Map<MessageId, Array<A>>, message: MessageId, one: A): void => {
  const list = lists.get(message)
  if (list === undefined) lists.set(message, [one])
  else list.push(one)
}

const refused = (result: string): ToolResult => ({ result, isError: true })

const noRoom = (message: string) => new InvalidRequest({ code: "invalid_value", message, param: "name" })
const noMasterKey = new SealingUnavailable({
  message: "Artifacts need signed links: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})

const done = (artifact: ChatArtifactOut, action: ChatArtifactEventOut["action"]) => ({
  result: JSON.stringify({ name: artifact.name, version: artifact.version, size_bytes: artifact.size_bytes }),
  isError: false,
  event: { action, artifact }
})

const noMoreVersions = `An artifact has at most ${maxVersions} versions: create one with another name.`
const maxReasonCharacters = 300
/** Which field, and why. */
const reasonOf = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)
    .map(({ message, path }) => [...path, message].join(": "))
    .join(" ")
    .slice(0, maxReasonCharacters)

const property = (description: string) => ({ type: "string", description })
const functionOf = (name: string, description: string, properties: Readonly<Record<string, object>>): Tool => ({
  type: "function",
  function: {
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false }
  }
})

const tools: ReadonlyArray<Tool> = [
  functionOf(
    writeTool,
    "Write a document of its own, such as a page, a drawing, a table or a program, which the person sees beside the conversation. Under a name that exists it replaces that document.",
    {
      name: property("File name, unique in the conversation."),
      media_type: property("Media type, such as text/html, image/svg+xml, text/markdown, text/csv, application/json."),
      content: property("The whole text.")
    }
  ),
  functionOf(editTool, "Replace a part of a document that was written before.", {
    name: property("Its name."),
    old_text: property("Text that occurs in it exactly once."),
    new_text: property("Text to put in its place.")
  })
]
