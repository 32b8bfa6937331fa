import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type CallError, CostBasis } from "../domain/Call.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ConversationId, MessageId } from "../domain/Ids.ts"
import { defaultSilenceSeconds } from "../ledger/Recovery.ts"
import { AccountSql } from "../sql/AccountDatabase.ts"
import { notifying } from "../sql/ChangeNotifications.ts"
import { Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import { AnswerSettings, messageRoles, messageStatuses } from "../wire/account/Chat.ts"

/** Calls of tools that an answer has made at one point, with what they returned. */
export const Step = Schema.Struct({
  /** Length of the answer's text before them, in UTF-16 units. */
  at: Schema.Int,
  calls: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      arguments: Schema.String,
      result: Schema.String,
      isError: Schema.Boolean
    })
  )
})
export type Step = typeof Step.Type

const Row = Schema.Struct({
  id: MessageId,
  conversationId: ConversationId,
  position: Schema.Int,
  version: Schema.Int,
  isCurrent: Schema.Boolean,
  role: Schema.Literal(...messageRoles),
  status: Schema.Literal(...messageStatuses),
  /** As far as it is written; the process that writes an answer has more of it. */
  content: Schema.String,
  reasoning: Schema.String,
  /** What an answer was asked for with; `null` for a question. */
  settings: Schema.NullOr(Schema.typeSchema(AnswerSettings)),
  steps: Schema.Array(Step),
  modelRequested: Schema.NullOr(Schema.String),
  modelUsed: Schema.NullOr(Schema.String),
  requestIds: Schema.Array(Schema.String),
  finishReason: Schema.NullOr(Schema.String),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  costMicroUsd: Int8,
  costBasis: CostBasis,
  createdAt: Schema.DateFromSelf
})
export type Message = typeof Row.Type

export type NewMessage = Pick<
  Message,
  "id" | "conversationId" | "position" | "version" | "role" | "status" | "content" | "settings" | "modelRequested"
>

/** What becomes of an answer while it is written. */
export type Progress = Pick<
  Message,
  "content" | "reasoning" | "steps" | "modelUsed" | "requestIds" | "costMicroUsd" | "costBasis"
>

/** The end of an answer. */
export interface Ending extends Progress {
  readonly status: Exclude<Message["status"], "streaming">
  readonly finishReason: string | null
  readonly error: CallError | null
}

/** Which answer is written. */
export type Answer = Pick<Message, "id" | "conversationId">

export interface MessageStoreShape {
  /** The messages of a conversation by position, and at each position by version: the last one is current. */
  readonly list: (conversation: ConversationId) => Effect.Effect<ReadonlyArray<Message>, StoreUnavailable>
  readonly find: (message: MessageId) => Effect.Effect<Message | undefined, StoreUnavailable>
  readonly insert: (message: NewMessage, at: Date) => Effect.Effect<void, StoreUnavailable>
  /** Copies a message into another conversation, in its current version. */
  readonly copy: (
    message: MessageId,
    to: Pick<Message, "id" | "conversationId">
  ) => Effect.Effect<void, StoreUnavailable>
  /** Of an answer that has ended. */
  readonly replaceSteps: (message: MessageId, steps: ReadonlyArray<Step>) => Effect.Effect<void, StoreUnavailable>
  /** What is current at these positions becomes a version. */
  readonly supersede: (
    conversation: ConversationId,
    positions: ReadonlyArray<number>
  ) => Effect.Effect<void, StoreUnavailable>
  /**
   * Also publishes the change to other nodes. True when the answer is to be stopped, or another process has ended it: then nothing
   * is written.
   */
  readonly write: (answer: Answer, progress: Progress) => Effect.Effect<boolean, StoreUnavailable>
  /** Ends the answer and frees its conversation, at once; also publishes the change to other nodes. */
  readonly end: (answer: Answer, ending: Ending, at: Date) => Effect.Effect<void, StoreUnavailable>
  /**
   * Ends the answers that nobody writes any more: those of dead processes, where this one has been heard for as long as those are
   * silent, and of this one those that do not run. Returns their conversations.
   */
  readonly interrupt: (
    node: string,
    running: ReadonlyArray<MessageId>,
    isAlone: boolean
  ) => Effect.Effect<ReadonlyArray<ConversationId>, StoreUnavailable>
}

/** The messages of conversations. */
export class MessageStore extends Context.Tag("gateway/chat/MessageStore")<MessageStore, MessageStoreShape>() {
  static readonly layer: Layer.Layer<MessageStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

/** An answer of this process that has not begun to run after so long never will. */
const maxStartSeconds = 30
const silence = `${defaultSilenceSeconds} seconds`

const decodeRows = Schema.decodeUnknown(Schema.Array(Row))
const decodeStops = Schema.decodeUnknown(Schema.Array(Schema.Struct({ stopRequested: Schema.Boolean })))
const decodeConversations = Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: ConversationId })))

const make = (sql: SqlClient): MessageStoreShape => {
  const columns = sql`m.id, m.conversation_id as "conversationId", m.position, m.version, m.is_current as "isCurrent", m.role,
    m.status, m.content, m.reasoning, m.settings, m.steps, m.model_requested as "modelRequested", m.model_used as "modelUsed",
    m.request_ids as "requestIds", m.finish_reason as "finishReason", m.error_code as "errorCode",
    m.error_message as "errorMessage", m.cost_micro_usd as "costMicroUsd", m.cost_basis as "costBasis",
    m.created_at as "createdAt"`
  const progressOf = ({ content, costBasis, costMicroUsd, modelUsed, reasoning, requestIds, steps }: Progress) =>
    sql`content = ${content}, reasoning = ${reasoning}, steps = ${JSON.stringify(steps)}::jsonb, model_used = ${modelUsed},
      request_ids = ${requestIds}::uuid[], cost_micro_usd = ${costMicroUsd}, cost_basis = ${costBasis}`

  return {
    list: (conversation) =>
      sql`select ${columns} from chat_message m where m.conversation_id = ${conversation}
        order by m.position, m.version`.pipe(Effect.flatMap(decodeRows), fromSql),
    find: (message) =>
      sql`select ${columns} from chat_message m where m.id = ${message}`.pipe(
        Effect.flatMap(decodeRows),
        Effect.map(([row]) => row),
        fromSql
      ),
    insert: ({ content, conversationId, id, modelRequested, position, role, settings, status, version }, at) =>
      fromSql(
        Effect.asVoid(sql`
          insert into chat_message (id, conversation_id, position, version, role, status, content, settings, model_requested,
            created_at)
          values (${id}, ${conversationId}, ${position}, ${version}, ${role}, ${status}, ${content},
            ${settings === null ? null : JSON.stringify(settings)}::jsonb, ${modelRequested}, ${at})`)
      ),
    copy: (message, { conversationId, id }) =>
      fromSql(
        Effect.asVoid(sql`
          insert into chat_message (id, conversation_id, position, role, status, content, reasoning, settings, steps,
            model_requested, model_used, request_ids, finish_reason, error_code, error_message, cost_micro_usd, cost_basis,
            created_at)
          select ${id}, ${conversationId}, position, role, status, content, reasoning, settings, steps, model_requested,
            model_used, request_ids, finish_reason, error_code, error_message, cost_micro_usd, cost_basis, created_at
          from chat_message where id = ${message}`)
      ),
    replaceSteps: (message, steps) =>
      fromSql(
        Effect.asVoid(sql`update chat_message set steps = ${JSON.stringify(steps)}::jsonb where id = ${message}`)
      ),
    supersede: (conversation, positions) =>
      fromSql(
        Effect.asVoid(sql`
          update chat_message set is_current = false
          where conversation_id = ${conversation} and position = any(${positions}::int[]) and is_current`)
      ),
    write: ({ conversationId, id }, progress) =>
      sql`with written as (
          update chat_message set ${progressOf(progress)} where id = ${id} and status = 'streaming' returning conversation_id
        )
        select c.stop_requested as "stopRequested", ${notifying(sql, "chat_turn", conversationId)}
        from written w join conversation c on c.id = w.conversation_id`.pipe(
        Effect.flatMap(decodeStops),
        Effect.map(([written]) => written?.stopRequested ?? true),
        fromSql
      ),
    end: ({ conversationId, id }, { error, finishReason, status, ...progress }, at) =>
      fromSql(
        Effect.asVoid(sql`
          with ended as (
            update chat_message set ${progressOf(progress)}, status = ${status}, finish_reason = ${finishReason},
              error_code = ${error?.code ?? null}, error_message = ${error?.message ?? null}
            where id = ${id} and status = 'streaming' returning id
          ), freed as (
            update conversation c set turn_id = null, node_id = null, stop_requested = false, updated_at = ${at}
            from ended where c.id = ${conversationId} and c.turn_id = ended.id returning c.id
          )
          select ${notifying(sql, "chat_turn", conversationId)} from freed`)
      ),
    interrupt: (node, running, isAlone) =>
      sql`with lost as (
          select c.id, c.turn_id from conversation c join chat_message m on m.id = c.turn_id
          where case when c.node_id = ${node}
            then c.turn_id <> all(${running}::uuid[]) and m.created_at < now() - ${`${maxStartSeconds} seconds`}::interval
            else ${isAlone} or (node_hears(${node}::uuid, ${silence}::interval) and not exists (
              select from node n where n.id = c.node_id and n.seen_at > now() - ${silence}::interval)) end
          for update of c skip locked
        ), ended as (
          update chat_message m set status = 'interrupted' from lost where m.id = lost.turn_id and m.status = 'streaming'
        ), freed as (
          update conversation c set turn_id = null, node_id = null, stop_requested = false from lost where c.id = lost.id
          returning c.id
        )
        select id, ${notifying(sql, "chat_turn", sql`id`)} from freed`.pipe(
        Effect.flatMap(decodeConversations),
        fromSql,
        Effect.map((rows) => rows.map(({ id }) => id))
      )
  }
}
