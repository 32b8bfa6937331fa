import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { type ConversationId, MessageId, type UserId } from "../domain/Ids.ts"
import { AccountSql } from "../sql/AccountDatabase.ts"
import { deleteInPortions } from "../sql/Portions.ts"
import { decodeCount, decodeIds, Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import { artifactActions } from "../wire/account/Chat.ts"

const Image = Schema.Struct({
  id: Schema.String,
  filename: Schema.String,
  mediaType: Schema.String,
  sizeBytes: Schema.Int
})
export type Image = typeof Image.Type
const MessageImage = Schema.Struct({ ...Image.fields, messageId: MessageId })

const Artifact = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  version: Schema.Int,
  mediaType: Schema.String,
  sizeBytes: Schema.Int,
  /** Of the first version. */
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})
/** A version of an artifact, without its text. */
export type Artifact = typeof Artifact.Type
const ArtifactEvent = Schema.Struct({
  ...Artifact.fields,
  messageId: MessageId,
  action: Schema.Literal(...artifactActions)
})
export type ArtifactEvent = typeof ArtifactEvent.Type

export interface NewVersion {
  readonly version: number
  readonly mediaType: string
  readonly content: string
}

export interface ContentStoreShape {
  readonly createImage: (user: UserId, image: Image, at: Date) => Effect.Effect<void, StoreUnavailable>
  /** Of all that the person has uploaded and that are not erased; each counts `minImageBytes` at least. */
  readonly imageBytes: (user: UserId) => Effect.Effect<number, StoreUnavailable>
  /** Not one that only deleted conversations have. */
  readonly image: (id: string) => Effect.Effect<Image | undefined, StoreUnavailable>
  /**
   * How many of these the person has uploaded and are not being removed; none of them is unused before `at`. In one transaction
   * with `attach`.
   */
  readonly takeImages: (user: UserId, ids: ReadonlyArray<string>, at: Date) => Effect.Effect<number, StoreUnavailable>
  readonly attach: (message: MessageId, images: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
  /** A copied message has the same images. */
  readonly copyImages: (from: MessageId, to: MessageId) => Effect.Effect<void, StoreUnavailable>
  /** By message, in order. */
  readonly images: (
    conversation: ConversationId
  ) => Effect.Effect<ReadonlyArray<typeof MessageImage.Type>, StoreUnavailable>
  /** Uploaded or taken before, and in no message; the oldest first. */
  readonly unused: (before: Date, max: number) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  /** From now on no message can take it; false where one has by now. */
  readonly withdraw: (id: string, before: Date) => Effect.Effect<boolean, StoreUnavailable>
  readonly removeImage: (id: string) => Effect.Effect<void, StoreUnavailable>
  /** In their last version, by name, without deleted ones. */
  readonly artifacts: (conversation: ConversationId) => Effect.Effect<ReadonlyArray<Artifact>, StoreUnavailable>
  /** Of one artifact, the newest first; of a deleted one, none. */
  readonly versions: (
    conversation: ConversationId,
    artifact: string
  ) => Effect.Effect<ReadonlyArray<Artifact>, StoreUnavailable>
  readonly contentOf: (
    artifact: string,
    version: number
  ) => Effect.Effect<
    (Pick<Artifact, "name" | "mediaType"> & { readonly content: string }) | undefined,
    StoreUnavailable
  >
  readonly createArtifact: (
    conversation: ConversationId,
    id: string,
    name: string,
    at: Date
  ) => Effect.Effect<void, StoreUnavailable>
  readonly addVersion: (artifact: string, version: NewVersion, at: Date) => Effect.Effect<void, StoreUnavailable>
  /** Its events stay, its text does not. */
  readonly deleteArtifact: (artifact: string, at: Date) => Effect.Effect<void, StoreUnavailable>
  readonly addEvent: (
    event: { readonly id: string; readonly artifact: string; readonly version: number } & Pick<
      ArtifactEvent,
      "messageId" | "action"
    >,
    at: Date
  ) => Effect.Effect<void, StoreUnavailable>
  /** In order. */
  readonly events: (conversation: ConversationId) => Effect.Effect<ReadonlyArray<ArtifactEvent>, StoreUnavailable>
  /** Erases at most this many of the conversations that were deleted before; returns how many. */
  readonly erase: (before: Date, max: number) => Effect.Effect<number, StoreUnavailable>
}

/** What messages have beside their text: images and artifacts. */
export class ContentStore extends Context.Tag("gateway/chat/ContentStore")<ContentStore, ContentStoreShape>() {
  static readonly layer: Layer.Layer<ContentStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const decodeImages = Schema.decodeUnknown(Schema.Array(Image))
const decodeMessageImages = Schema.decodeUnknown(Schema.Array(MessageImage))
const decodeArtifacts = Schema.decodeUnknown(Schema.Array(Artifact))
const decodeEvents = Schema.decodeUnknown(Schema.Array(ArtifactEvent))
const decodeBytes = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ bytes: Int8 })))
const decodeContent = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ name: Schema.String, mediaType: Schema.String, content: Schema.String }))
)

/** Its row, its audit row and the file cost more than the smallest images: any number of those would fit into a limit of bytes. */
export const minImageBytes = 16 * 1024

/** Each has up to a megabyte. */
const maxTextsPerStatement = 100

const make = (sql: SqlClient): ContentStoreShape => {
  /** The time of an image that is being removed. */
  const withdrawn = sql.literal("'-infinity'::timestamptz")
  const image = sql.literal(`i.id, i.filename, i.media_type as "mediaType", i.size_bytes as "sizeBytes"`)
  const artifact = sql.literal(`a.id, a.name, v.version, v.media_type as "mediaType", v.size_bytes as "sizeBytes",
    a.created_at as "createdAt", v.created_at as "updatedAt"`)
  const done = <A, E, R>(statement: Effect.Effect<A, E, R>) => fromSql(Effect.asVoid(statement))

  return {
    createImage: (user, { filename, id, mediaType, sizeBytes }, at) =>
      done(sql`insert into chat_image (id, user_id, filename, media_type, size_bytes, created_at)
        values (${id}, ${user}, ${filename}, ${mediaType}, ${sizeBytes}, ${at})`),
    imageBytes: (user) =>
      sql`select coalesce(sum(greatest(size_bytes, ${minImageBytes}::int)), 0)::text as bytes
        from chat_image where user_id = ${user}`.pipe(
        Effect.flatMap(decodeBytes),
        Effect.map(([{ bytes }]) => bytes),
        fromSql
      ),
    image: (id) =>
      sql`select ${image} from chat_image i left join chat_message_image mi on mi.image_id = i.id
        left join chat_message m on m.id = mi.message_id left join conversation c on c.id = m.conversation_id
        where i.id = ${id} and c.deleted_at is null limit 1`.pipe(
        Effect.flatMap(decodeImages),
        Effect.map(([row]) => row),
        fromSql
      ),
    takeImages: (user, ids, at) =>
      sql`with taken as (
          update chat_image set created_at = greatest(created_at, ${at})
          where user_id = ${user} and id = any(${ids}::uuid[]) and created_at > ${withdrawn}
          returning 1
        )
        select count(*)::int as count from taken`.pipe(
        Effect.flatMap(decodeCount),
        Effect.map(([{ count }]) => count),
        fromSql
      ),
    attach: (message, images) =>
      done(sql`insert into chat_message_image (message_id, image_id, position)
        select ${message}, id, position from unnest(${images}::uuid[]) with ordinality as u(id, position)`),
    copyImages: (from, to) =>
      done(sql`insert into chat_message_image (message_id, image_id, position)
        select ${to}, image_id, position from chat_message_image where message_id = ${from}`),
    images: (conversation) =>
      sql`select ${image}, mi.message_id as "messageId" from chat_message m
        join chat_message_image mi on mi.message_id = m.id join chat_image i on i.id = mi.image_id
        where m.conversation_id = ${conversation} order by m.position, mi.position`.pipe(
        Effect.flatMap(decodeMessageImages),
        fromSql
      ),
    unused: (before, max) =>
      sql`select i.id from chat_image i where i.created_at < ${before}
        and not exists (select from chat_message_image mi where mi.image_id = i.id)
        order by i.created_at limit ${max}`.pipe(
        Effect.flatMap(decodeIds),
        Effect.map((rows) => rows.map(({ id }) => id)),
        fromSql
      ),
    // where both want the row at once, the second of this and takeImages sees the time that the first has set
    withdraw: (id, before) =>
      sql`update chat_image i set created_at = ${withdrawn} where i.id = ${id} and i.created_at < ${before}
        and not exists (select from chat_message_image mi where mi.image_id = i.id) returning id`.pipe(
        Effect.map((rows) => rows.length > 0),
        fromSql
      ),
    removeImage: (id) => done(sql`delete from chat_image where id = ${id}`),
    artifacts: (conversation) =>
      sql`select distinct on (a.name) ${artifact} from chat_artifact a join chat_artifact_version v on v.artifact_id = a.id
        where a.conversation_id = ${conversation} and a.deleted_at is null order by a.name, v.version desc`.pipe(
        Effect.flatMap(decodeArtifacts),
        fromSql
      ),
    versions: (conversation, id) =>
      sql`select ${artifact} from chat_artifact a join chat_artifact_version v on v.artifact_id = a.id
        where a.conversation_id = ${conversation} and a.id = ${id} and a.deleted_at is null order by v.version desc`.pipe(
        Effect.flatMap(decodeArtifacts),
        fromSql
      ),
    contentOf: (id, version) =>
      sql`select a.name, v.media_type as "mediaType", v.content from chat_artifact a
        join chat_artifact_version v on v.artifact_id = a.id join conversation c on c.id = a.conversation_id
        where a.id = ${id} and v.version = ${version} and a.deleted_at is null and c.deleted_at is null`.pipe(
        Effect.flatMap(decodeContent),
        Effect.map(([row]) => row),
        fromSql
      ),
    createArtifact: (conversation, id, name, at) =>
      done(sql`insert into chat_artifact (id, conversation_id, name, created_at)
        values (${id}, ${conversation}, ${name}, ${at})`),
    addVersion: (id, { content, mediaType, version }, at) =>
      done(sql`insert into chat_artifact_version (artifact_id, version, media_type, content, size_bytes, created_at)
        values (${id}, ${version}, ${mediaType}, ${content}, ${Buffer.byteLength(content)}, ${at})`),
    deleteArtifact: (id, at) =>
      done(sql`with gone as (update chat_artifact set deleted_at = ${at} where id = ${id})
        update chat_artifact_version set content = '' where artifact_id = ${id}`),
    addEvent: ({ action, artifact: of, id, messageId, version }, at) =>
      done(sql`insert into chat_artifact_event (id, message_id, artifact_id, version, action, created_at)
        values (${id}, ${messageId}, ${of}, ${version}, ${action}, ${at})`),
    events: (conversation) =>
      sql`select ${artifact}, e.message_id as "messageId", e.action from chat_artifact_event e
        join chat_artifact a on a.id = e.artifact_id
        join chat_artifact_version v on v.artifact_id = a.id and v.version = e.version
        where a.conversation_id = ${conversation} order by e.id`.pipe(Effect.flatMap(decodeEvents), fromSql),
    erase: (before, max) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            const rows = yield* sql`select id from conversation where deleted_at < ${before} and turn_id is null
              limit ${max} for update skip locked`.pipe(Effect.flatMap(decodeIds))
            const gone = rows.map(({ id }) => id)
            if (gone.length === 0) return 0
            const messages = sql`(select id from chat_message where conversation_id = any(${gone}::uuid[]))`
            const artifacts = sql`(select id from chat_artifact where conversation_id = any(${gone}::uuid[]))`
            yield* sql`delete from chat_artifact_event where artifact_id in ${artifacts}`
            yield* deleteInPortions(sql`with gone as (delete from chat_artifact_version where ctid = any(array(
                select ctid from chat_artifact_version where artifact_id in ${artifacts} limit ${maxTextsPerStatement}))
              returning 1) select count(*)::int as count from gone`)
            yield* sql`delete from chat_artifact where conversation_id = any(${gone}::uuid[])`
            // where no other message has them they are unused from now on, whenever they were uploaded
            yield* sql`update chat_image set created_at = 'epoch'
              where id in (select image_id from chat_message_image where message_id in ${messages})`
            yield* sql`delete from chat_message_image where message_id in ${messages}`
            yield* deleteInPortions(sql`with gone as (delete from chat_message where ctid = any(array(
                select ctid from chat_message where conversation_id = any(${gone}::uuid[]) limit ${maxTextsPerStatement}))
              returning 1) select count(*)::int as count from gone`)
            yield* sql`delete from conversation where id = any(${gone}::uuid[])`
            return gone.length
          })
        )
        .pipe(fromSql)
  }
}
