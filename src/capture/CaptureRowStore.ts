import type { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ProjectId } from "../domain/Ids.ts"
import type { NewSample, Place } from "./CaptureRecords.ts"

/** What the statements on captured calls have in common. */

export const bytes = (hex: string): Buffer => Buffer.from(hex, "hex")

/** The rows of a conversation. */
export const at = (sql: SqlClient, { configVersion, conversation, projectId }: Place) =>
  sql`project_id = ${projectId} and config_version = ${configVersion} and conversation = ${bytes(conversation)}`

/** The project is not deleted: of one that is nothing may be written any more, wherever its calls still wait. */
export const isLive = (sql: SqlClient, projectId: ProjectId) =>
  sql`exists (select from project where id = ${projectId} and deleted_at is null)`

export const insertPacks = (sql: SqlClient, projectId: ProjectId, day: string, packs: NewSample["shared"]) =>
  Effect.forEach(
    packs,
    ({ id, sealed }) =>
      sql`insert into capture_shared (project_id, day, id, sealed) values (${projectId}, ${day}, ${bytes(id)}, ${sealed})
        on conflict do nothing`,
    { discard: true }
  )

/** An array of bytea, as PostgreSQL writes one. */
export const sharedIds = (shared: NewSample["shared"]): string =>
  `{${shared.map(({ id }) => `"\\\\x${id}"`).join(",")}}`

export const decodePlaces = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ projectId: ProjectId, configVersion: Schema.Int, conversation: Schema.String }))
)
