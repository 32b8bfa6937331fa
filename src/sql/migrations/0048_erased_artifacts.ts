import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What the deletion of an artifact erases from now on, of those that were deleted before. */
const texts = `
update chat_artifact_version set content = ''
where artifact_id in (select id from chat_artifact where deleted_at is not null);
`

export const erasedArtifacts = Effect.flatMap(SqlClient, (sql) => sql.unsafe(texts))
