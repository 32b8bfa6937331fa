import type { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fromSql } from "../sql/StoreErrors.ts"
import { type CaptureStoreShape, ConversationRow, SampleRow } from "./CaptureRecords.ts"
import { bytes, decodePlaces } from "./CaptureRowStore.ts"

const decodeSamples = Schema.decodeUnknown(Schema.Array(SampleRow))
const decodeConversations = Schema.decodeUnknown(Schema.Array(ConversationRow))
const decodePacks = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ id: Schema.String, sealed: Schema.Uint8ArrayFromSelf }))
)

/** Reads samples and conversations. */
export const sampleReads = (
  sql: SqlClient
): Pick<
  CaptureStoreShape,
  "sample" | "page" | "ofConversation" | "shared" | "conversations" | "conversationsAfter"
> => {
  const sampleColumns = sql.literal(`s.id, s.project_id as "projectId", s.config_version as "configVersion",
    encode(s.conversation, 'hex') as conversation, s.day::text as day, s.base, s.key_id as "keyId",
    encode(s.end_user, 'hex') as "endUser", s.flow_authorized as "flowAuthorized", s.captured_at as "capturedAt",
    s.expires_at as "expiresAt", w.sampling_rate as "samplingRate", least(w.sampling_rate, coalesce(t.below, 1)) as inclusion,
    s.sealed`)
  const joined = sql.literal(`join capture_conversation c on c.project_id = s.project_id
      and c.config_version = s.config_version and c.conversation = s.conversation
    join capture_window w on w.project_id = s.project_id and w.config_version = s.config_version
    left join capture_threshold t on t.project_id = s.project_id and t.config_version = s.config_version and t.class = c.class`)
  return {
    sample: (id, now) =>
      sql`select ${sampleColumns} from capture_sample s ${joined} where s.id = ${id} and s.expires_at > ${now}`.pipe(
        Effect.flatMap(decodeSamples),
        Effect.map(([found]) => found),
        fromSql
      ),
    page: (project, before, max, now) =>
      sql`select ${sampleColumns} from capture_sample s ${joined}
        where s.project_id = ${project} and s.expires_at > ${now} and ${before === undefined ? sql`true` : sql`s.id < ${before}`}
        order by s.id desc limit ${max}`.pipe(Effect.flatMap(decodeSamples), fromSql),
    ofConversation: ({ configVersion, conversation, projectId }) =>
      sql`select ${sampleColumns} from capture_sample s ${joined}
        where s.project_id = ${projectId} and s.config_version = ${configVersion} and s.conversation = ${bytes(conversation)}
        order by s.id`.pipe(Effect.flatMap(decodeSamples), fromSql),
    shared: (project, day, ids) =>
      ids.length === 0
        ? Effect.succeed([])
        : sql`select encode(id, 'hex') as id, sealed from capture_shared
            where project_id = ${project} and day = ${day} and ${sql.in("id", ids.map(bytes))}`.pipe(
            Effect.flatMap(decodePacks),
            fromSql
          ),
    conversations: (project, from, to, max, now) =>
      sql`select c.project_id as "projectId", c.config_version as "configVersion",
          encode(c.conversation, 'hex') as conversation, c.u as position,
          least(w.sampling_rate, coalesce(t.below, 1)) as inclusion, c.samples as calls
        from capture_conversation c
          join capture_window w on w.project_id = c.project_id and w.config_version = c.config_version
          left join capture_threshold t on t.project_id = c.project_id and t.config_version = c.config_version
            and t.class = c.class
        where c.project_id = ${project} and exists (select from capture_sample s where s.project_id = c.project_id
          and s.conversation = c.conversation and s.config_version = c.config_version and s.captured_at >= ${from}
          and s.captured_at < ${to} and s.expires_at > ${now})
        order by c.u, c.config_version desc limit ${max}`.pipe(Effect.flatMap(decodeConversations), fromSql),
    conversationsAfter: (project, after, max) =>
      sql`select project_id as "projectId", config_version as "configVersion", encode(conversation, 'hex') as conversation
        from capture_conversation where project_id = ${project} and samples > 0
          and ${
            after === undefined
              ? sql`true`
              : sql`(config_version, conversation) > (${after.configVersion}, ${bytes(after.conversation)})`
          }
        order by config_version, conversation limit ${max}`.pipe(Effect.flatMap(decodePlaces), fromSql)
  }
}
