import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ConversationId, MessageId, ProjectId, UserId } from "../domain/Ids.ts"
import { AccountSql } from "../sql/AccountDatabase.ts"
import { decodeCount, decodeIds, Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"

const Row = Schema.Struct({
  id: ConversationId,
  userId: UserId,
  projectId: ProjectId,
  title: Schema.String,
  titleSource: Schema.Literal("none", "question", "person"),
  /** The message that is being written; where its process is dead, until the answer is ended as interrupted. */
  turnId: Schema.NullOr(MessageId),
  nodeId: Schema.NullOr(Schema.UUID),
  stopRequested: Schema.Boolean,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf,
  deletedAt: Schema.NullOr(Schema.DateFromSelf)
})
/** A conversation without what is in it. */
export type Conversation = typeof Row.Type

const PayingProject = Schema.Struct({ id: ProjectId, name: Schema.String })

/** Only those that fit. */
export interface ConversationFilter {
  readonly projectId: ProjectId | undefined
  /** A part of the title, in any case. */
  readonly title: string | undefined
  readonly isRunning: boolean | undefined
}

/** Of a conversation in the list, which is by time and id. */
export interface ListPosition {
  readonly updatedAt: Date
  readonly id: string
}

export interface ConversationStoreShape {
  /** Those in which the person is owner or member, newest first, those before `before`. */
  readonly projects: (
    user: UserId,
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<typeof PayingProject.Type>, StoreUnavailable>
  readonly create: (
    conversation: Pick<Conversation, "id" | "userId" | "projectId" | "title" | "titleSource">,
    at: Date
  ) => Effect.Effect<void, StoreUnavailable>
  /** Until the end of the transaction nobody else who does the same stores something of the person. */
  readonly lockStored: (user: UserId) => Effect.Effect<void, StoreUnavailable>
  /** Without deleted ones. */
  readonly count: (user: UserId) => Effect.Effect<number, StoreUnavailable>
  /** Bytes of text that the person has added to them without a call; those of deleted ones count until they are erased. */
  readonly addedBytes: (user: UserId) => Effect.Effect<number, StoreUnavailable>
  readonly addBytes: (id: ConversationId, bytes: number) => Effect.Effect<void, StoreUnavailable>
  /** Of the person, in a project that the person may still see; not one that is deleted. */
  readonly find: (id: ConversationId, user: UserId) => Effect.Effect<Conversation | undefined, StoreUnavailable>
  /** The same, deleted or not, and until the end of the transaction nobody else changes it. */
  readonly lock: (id: ConversationId, user: UserId) => Effect.Effect<Conversation | undefined, StoreUnavailable>
  /** Last changed first, those after `after`. */
  readonly list: (
    user: UserId,
    filter: ConversationFilter,
    max: number,
    after: ListPosition | undefined
  ) => Effect.Effect<ReadonlyArray<Conversation>, StoreUnavailable>
  readonly rename: (
    id: ConversationId,
    title: string,
    source: Conversation["titleSource"],
    at: Date
  ) => Effect.Effect<void, StoreUnavailable>
  /** `null` takes the deletion back. */
  readonly setDeleted: (id: ConversationId, at: Date | null) => Effect.Effect<void, StoreUnavailable>
  /** False while an answer is being written. */
  readonly beginTurn: (
    id: ConversationId,
    turn: MessageId,
    node: string,
    at: Date
  ) => Effect.Effect<boolean, StoreUnavailable>
  /**
   * How many answers are being written for the person, those of silent processes included until they are ended: after an outage of
   * the database every process is silent at first. Nobody begins another one until the end of the transaction.
   */
  readonly lockRunning: (user: UserId) => Effect.Effect<number, StoreUnavailable>
  readonly requestStop: (id: ConversationId) => Effect.Effect<void, StoreUnavailable>
}

/** The conversations of people. */
export class ConversationStore extends Context.Tag("gateway/chat/ConversationStore")<
  ConversationStore,
  ConversationStoreShape
>() {
  static readonly layer: Layer.Layer<ConversationStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const decodeRows = Schema.decodeUnknown(Schema.Array(Row))
const decodeProjects = Schema.decodeUnknown(Schema.Array(PayingProject))
const decodeBytes = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ bytes: Int8 })))

const make = (sql: SqlClient): ConversationStoreShape => {
  const columns = sql`c.id, c.user_id as "userId", c.project_id as "projectId", c.title, c.title_source as "titleSource",
    c.turn_id as "turnId", c.node_id as "nodeId", c.stop_requested as "stopRequested",
    c.created_at as "createdAt", c.updated_at as "updatedAt", c.deleted_at as "deletedAt"`
  /** Who is no longer of the project no longer reads what it has paid for. */
  const ofPerson = (user: UserId): Fragment => sql`c.user_id = ${user} and exists (
    select from project p join account a on a.id = p.account_id
    where p.id = c.project_id and p.deleted_at is null and (a.user_id = ${user}
      or exists (select from project_member m where m.project_id = p.id and m.user_id = ${user})))`
  const first = (rows: Fragment) =>
    sql`${rows}`.pipe(
      Effect.flatMap(decodeRows),
      Effect.map(([row]) => row),
      fromSql
    )

  const counted = (rows: Fragment) =>
    sql`${rows}`.pipe(
      Effect.flatMap(decodeCount),
      Effect.map(([{ count }]) => count),
      fromSql
    )

  return {
    projects: (user, max, before) =>
      sql`select p.id, p.name from project p join account a on a.id = p.account_id
        where p.deleted_at is null and ${before === undefined ? sql`true` : sql`p.id < ${before}`} and (a.user_id = ${user}
          or p.id in (select m.project_id from project_member m where m.user_id = ${user} and m.role <> 'viewer'))
        order by p.id desc limit ${max}`.pipe(Effect.flatMap(decodeProjects), fromSql),
    create: ({ id, projectId, title, titleSource, userId }, at) =>
      fromSql(
        Effect.asVoid(sql`
          insert into conversation (id, user_id, project_id, title, title_source, created_at, updated_at)
          values (${id}, ${userId}, ${projectId}, ${title}, ${titleSource}, ${at}, ${at})`)
      ),
    lockStored: (user) =>
      fromSql(Effect.asVoid(sql`select pg_advisory_xact_lock(hashtextextended(${`chat storage ${user}`}, 0))`)),
    count: (user) =>
      counted(sql`select count(*)::int as count from conversation where user_id = ${user} and deleted_at is null`),
    // each half has an index of its own
    addedBytes: (user) =>
      sql`select coalesce(sum(added_bytes), 0)::text as bytes from (
          select added_bytes from conversation where user_id = ${user} and deleted_at is null
          union all
          select added_bytes from conversation where user_id = ${user} and deleted_at is not null
        ) as c`.pipe(
        Effect.flatMap(decodeBytes),
        Effect.map(([{ bytes }]) => bytes),
        fromSql
      ),
    addBytes: (id, bytes) =>
      fromSql(Effect.asVoid(sql`update conversation set added_bytes = added_bytes + ${bytes} where id = ${id}`)),
    find: (id, user) =>
      first(
        sql`select ${columns} from conversation c where c.id = ${id} and c.deleted_at is null and ${ofPerson(user)}`
      ),
    lock: (id, user) =>
      first(sql`select ${columns} from conversation c where c.id = ${id} and ${ofPerson(user)} for update of c`),
    list: (user, { isRunning, projectId, title }, max, after) =>
      sql`select ${columns} from conversation c where ${sql.and([
        ofPerson(user),
        sql`c.deleted_at is null`,
        ...(projectId === undefined ? [] : [sql`c.project_id = ${projectId}`]),
        ...(title === undefined ? [] : [sql`position(lower(${title}) in lower(c.title)) > 0`]),
        ...(isRunning === undefined ? [] : [sql`(c.turn_id is not null) = ${isRunning}`]),
        ...(after === undefined
          ? []
          : [sql`(c.updated_at, c.id) < (${after.updatedAt}::timestamptz, ${after.id}::uuid)`])
      ])} order by c.updated_at desc, c.id desc limit ${max}`.pipe(Effect.flatMap(decodeRows), fromSql),
    rename: (id, title, source, at) =>
      fromSql(
        Effect.asVoid(sql`
          update conversation set title = ${title}, title_source = ${source}, updated_at = ${at} where id = ${id}`)
      ),
    setDeleted: (id, at) => fromSql(Effect.asVoid(sql`update conversation set deleted_at = ${at} where id = ${id}`)),
    beginTurn: (id, turn, node, at) =>
      sql`update conversation set turn_id = ${turn}, node_id = ${node}, stop_requested = false, updated_at = ${at}
        where id = ${id} and turn_id is null returning id`.pipe(
        Effect.flatMap(decodeIds),
        Effect.map((begun) => begun.length > 0),
        fromSql
      ),
    lockRunning: (user) =>
      Effect.zipRight(
        sql`select pg_advisory_xact_lock(hashtextextended(${`chat turns ${user}`}, 0))`,
        counted(sql`select count(*)::int as count from conversation where user_id = ${user} and turn_id is not null`)
      ).pipe(fromSql),
    requestStop: (id) => fromSql(Effect.asVoid(sql`update conversation set stop_requested = true where id = ${id}`))
  }
}
