import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What a deletion of a project erases from now on, of the projects that were deleted before. */
const secrets = `
delete from credential where project_id in (select id from project where deleted_at is not null);
delete from alert_event where project_id in (select id from project where deleted_at is not null);
delete from alert where project_id in (select id from project where deleted_at is not null);
comment on column project.deleted_at is
  'A deleted project has no active key, no credential and no webhook; its calls and its money stay';
`

export const erasedSecrets = Effect.flatMap(SqlClient, (sql) => sql.unsafe(secrets))
