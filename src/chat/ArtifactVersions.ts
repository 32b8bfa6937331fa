import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { IdGeneratorShape } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import type { SaveArtifactRequest } from "../wire/account/Chat.ts"
import { type Edit, edited, invalidity } from "./ArtifactTools.ts"
import type { Artifact, ArtifactEvent, ContentStoreShape, NewVersion } from "./ContentStore.ts"
import type { Answer } from "./MessageStore.ts"

export interface VersionDeps {
  readonly store: ContentStoreShape
  readonly ids: IdGeneratorShape
  readonly now: () => Date
}

/** A version that was written; on the left why none was. */
type Made = Either.Either<{ readonly action: "created" | "updated"; readonly artifact: Artifact }, string>

const maxVersions = 100
const maxArtifacts = 20

/** A whole document: the next version of what there is under its name, or the first of a new artifact. */
export const putDocument = (
  deps: VersionDeps,
  answer: Answer,
  { content, media_type, name }: SaveArtifactRequest
): Effect.Effect<Made, StoreUnavailable> =>
  Effect.gen(function* () {
    const all = yield* deps.store.artifacts(answer.conversationId)
    const found = all.find((one) => one.name === name)
    if (found === undefined && all.length >= maxArtifacts) {
      return Either.left(`A conversation has at most ${maxArtifacts} artifacts.`)
    }
    if (found !== undefined && found.version >= maxVersions) return Either.left(noMoreVersions)
    const action = found === undefined ? "created" : "updated"
    const artifact = yield* addVersion(deps, answer, found, { name, mediaType: media_type, content }, action)
    return Either.right({ action, artifact })
  })

/** A part of a document. */
export const editDocument = (
  deps: VersionDeps,
  answer: Answer,
  { name, new_text, old_text }: Edit
): Effect.Effect<Made, StoreUnavailable> =>
  Effect.gen(function* () {
    const found = (yield* deps.store.artifacts(answer.conversationId)).find((one) => one.name === name)
    const before = found === undefined ? undefined : yield* deps.store.contentOf(found.id, found.version)
    if (found === undefined || before === undefined) return Either.left(`There is no artifact '${name}'.`)
    const after = edited(before.content, { old_text, new_text })
    if (Either.isLeft(after)) return Either.left(after.left)
    if (found.version >= maxVersions) return Either.left(noMoreVersions)
    const invalid = invalidity(after.right)
    if (invalid !== undefined) return Either.left(invalid)
    const document = { name, mediaType: found.mediaType, content: after.right }
    return Either.right({ action: "updated", artifact: yield* addVersion(deps, answer, found, document, "updated") })
  })

/** `undefined` where there is no such version; on the left why it cannot be restored. */
export const restoreVersion = (
  deps: VersionDeps,
  answer: Answer,
  artifact: string,
  version: number
): Effect.Effect<Either.Either<Artifact, string> | undefined, StoreUnavailable> =>
  Effect.gen(function* () {
    const [latest] = yield* deps.store.versions(answer.conversationId, artifact)
    const before = latest === undefined ? undefined : yield* deps.store.contentOf(artifact, version)
    if (latest === undefined || before === undefined) return undefined
    if (latest.version >= maxVersions) return Either.left(noMoreVersions)
    return Either.right(yield* addVersion(deps, answer, latest, before, "restored"))
  })

/** Its name; `undefined` where there is none. */
export const removeArtifact = (
  deps: VersionDeps,
  { conversationId, id: messageId }: Answer,
  artifact: string
): Effect.Effect<string | undefined, StoreUnavailable> =>
  Effect.gen(function* () {
    const [latest] = yield* deps.store.versions(conversationId, artifact)
    if (latest === undefined) return undefined
    yield* deps.store.deleteArtifact(artifact, deps.now())
    yield* note(deps, "deleted", artifact, latest.version, messageId)
    return latest.name
  })

/** Those of the messages, each by its copy; what was deleted has no text to be copied. */
export const copyArtifacts = (
  deps: VersionDeps,
  from: ConversationId,
  to: ConversationId,
  messages: ReadonlyMap<MessageId, MessageId>
): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    const { ids, now, store } = deps
    const copies = new Map<string, string>()
    const events = yield* store.events(from)
    const deleted = new Set(events.filter(({ action }) => action === "deleted").map(({ id }) => id))
    for (const { action, id, messageId, name, version } of events) {
      const message = messages.get(messageId)
      if (message === undefined || deleted.has(id)) continue
      const copy = copies.get(id) ?? ids.uuid()
      if (!copies.has(id)) yield* store.createArtifact(to, copy, name, now())
      copies.set(id, copy)
      const content = yield* store.contentOf(id, version)
      if (content !== undefined) yield* store.addVersion(copy, { ...content, version }, now())
      yield* note(deps, action, copy, version, message)
    }
  })

type Document = Pick<Artifact, "mediaType" | "name"> & Pick<NewVersion, "content">

const addVersion = (
  deps: VersionDeps,
  { conversationId, id: messageId }: Answer,
  found: Artifact | undefined,
  { content, mediaType, name }: Document,
  action: "created" | "updated" | "restored"
) =>
  Effect.gen(function* () {
    const { ids, now, store } = deps
    const id = found?.id ?? ids.uuid()
    const version = (found?.version ?? 0) + 1
    if (found === undefined) yield* store.createArtifact(conversationId, id, name, now())
    yield* store.addVersion(id, { version, mediaType, content }, now())
    yield* note(deps, action, id, version, messageId)
    const [made] = yield* store.versions(conversationId, id)
    return made ?? (yield* Effect.dieMessage("a version that was written just now is found"))
  })

const note = (
  { ids, now, store }: VersionDeps,
  action: ArtifactEvent["action"],
  artifact: string,
  version: number,
  messageId: MessageId
) => store.addEvent({ id: ids.uuid(), artifact, version, messageId, action }, now())

const noMoreVersions = `An artifact has at most ${maxVersions} versions: create one with another name.`
