import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../audit/Audit.ts"
import { SealingUnavailable } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { ChatImageOut } from "../wire/account/Chat.ts"
import { ContentLinks } from "./ContentLinks.ts"
import { ContentStore, minImageBytes } from "./ContentStore.ts"
import { imageTypeOf } from "./ImageType.ts"
import type { Message } from "./MessageStore.ts"
import { Objects } from "./Objects.ts"
import { imageOut } from "./Records.ts"
import { StorageLimits } from "./StorageLimits.ts"

export interface ImagesShape {
  /**
   * For a message of the current user; removed after a day where none has it. Its bytes are stored by `put`, outside of any
   * transaction: nobody finds an object without its row.
   */
  readonly create: (
    filename: string,
    bytes: Uint8Array
  ) => Effect.Effect<ChatImageOut, InvalidRequest | SealingUnavailable | StoreUnavailable, CurrentUser>
  /** Stores the bytes of an image of the current user, again too; of one that is removed, nothing. */
  readonly put: (id: string, bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable, CurrentUser>
  /** An image that no message has. */
  readonly remove: (id: string) => Effect.Effect<void, StoreUnavailable>
  /** The images of these questions, as data URLs. Where all together are too large for a request, `null` for the oldest. */
  readonly dataUrls: (
    conversation: ConversationId,
    history: ReadonlyArray<Pick<Message, "id">>
  ) => Effect.Effect<ReadonlyMap<MessageId, ReadonlyArray<string | null>>, StoreUnavailable>
}

/** Images that people send to models. */
export class Images extends Context.Tag("gateway/chat/Images")<Images, ImagesShape>() {
  static readonly layer: Layer.Layer<
    Images,
    never,
    AccountTransactions | Audit | ContentLinks | ContentStore | IdGenerator | Objects | StorageLimits | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

export const maxImageBytes = 10 * 1024 * 1024
const maxSide = 8_192
/** Of all images in one request, as base64. */
const maxRequestCharacters = 19 * 1024 * 1024

const make = Effect.gen(function* () {
  const store = yield* ContentStore
  const objects = yield* Objects
  const links = yield* ContentLinks
  const transactions = yield* AccountTransactions
  const limits = yield* StorageLimits
  const audit = yield* Audit
  const ids = yield* IdGenerator
  const timers = yield* Timers

  return Images.of({
    create: (filename, bytes) =>
      Effect.gen(function* () {
        if (!links.isAvailable) return yield* noMasterKey
        const type = imageTypeOf(bytes)
        if (type === undefined) return yield* notAnImage
        if (type.width > maxSide || type.height > maxSide || type.width === 0 || type.height === 0)
          return yield* tooWide
        const user = yield* CurrentUser
        const image = { id: ids.uuid(), filename, mediaType: type.mediaType, sizeBytes: bytes.length }
        yield* transactions.commit(() =>
          Effect.gen(function* () {
            yield* limits.requireBytes(Math.max(bytes.length, minImageBytes))
            yield* store.createImage(user.userId, image, dateAt(timers.now()))
            yield* audit.recordBy(user, {
              accountId: user.accountId,
              action: "chat_image.create",
              target: { kind: "chat_image", id: image.id },
              before: null,
              after: { media_type: image.mediaType, size_bytes: image.sizeBytes }
            })
          })
        )
        return imageOut(image, links.urlOf({ kind: "images", id: image.id }))
      }),
    put: (id, bytes) =>
      Effect.gen(function* () {
        const { userId } = yield* CurrentUser
        // taken, it is not removed while its bytes are on their way
        if ((yield* store.takeImages(userId, [id], dateAt(timers.now()))) > 0) yield* objects.put(id, bytes)
      }),
    remove: (id) => Effect.zipRight(objects.remove(id), store.removeImage(id)),
    dataUrls: (conversation, history) =>
      Effect.gen(function* () {
        const asked = new Set(history.map(({ id }) => id))
        const rows = (yield* store.images(conversation)).filter(({ messageId }) => asked.has(messageId))
        const urls = new Map<MessageId, Array<string | null>>()
        let room = maxRequestCharacters
        // the newest first: they are asked about
        for (const { id, mediaType, messageId, sizeBytes } of rows.toReversed()) {
          const list = urls.get(messageId) ?? []
          urls.set(messageId, list)
          room -= Math.ceil(sizeBytes / 3) * 4
          const bytes = room < 0 ? undefined : yield* objects.get(id)
          list.unshift(bytes === undefined ? null : `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`)
        }
        return urls
      })
  })
})

const invalid = (message: string) => new InvalidRequest({ code: "invalid_value", message, param: null })
const notAnImage = invalid(
  "The file is not a PNG, JPEG, GIF or WebP image; convert other formats, such as SVG and HEIC."
)
const tooWide = invalid(`The image must have 1 to ${maxSide} pixels in width and in height.`)
const noMasterKey = new SealingUnavailable({
  message: "Images need signed links: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})
