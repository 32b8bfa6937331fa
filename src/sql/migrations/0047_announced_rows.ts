import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Nodes cache these rows for as long as they hear of changes, so that a change announces itself whoever writes it: a statement in
 * psql takes effect like one of the service. The service's own notifications of the same row are the same text, and the database
 * sends a text once in a transaction. What is written while it is used, as when a session was seen, announces nothing.
 */
const announced = `
create function announce_row() returns trigger language plpgsql as $$
begin
  perform pg_notify('gateway_changes', tg_argv[0] || ':' || (to_jsonb(coalesce(new, old)) ->> tg_argv[1]));
  return null;
end $$;
comment on function announce_row is 'Tells all nodes that a row which they cache has changed: its kind, and the column of its id';

create trigger api_key_announced after insert or update or delete on api_key
  for each row execute function announce_row('key', 'id');
create trigger project_announced after update or delete on project
  for each row execute function announce_row('project', 'id');
create trigger experiment_announced after insert or update of state, share, slug, fields_before, fields_after or delete on experiment
  for each row execute function announce_row('project', 'project_id');
create trigger routing_configuration_announced after insert or update or delete on routing_configuration
  for each row execute function announce_row('configurations', 'project_id');
create trigger credential_announced after insert or update or delete on credential
  for each row execute function announce_row('credentials', 'project_id');
create trigger capture_window_announced after insert or update or delete on capture_window
  for each row execute function announce_row('capture', 'project_id');
create trigger capture_project_key_announced after update or delete on capture_project_key
  for each row execute function announce_row('capture', 'project_id');
create trigger session_announced after update of revoked_at, expires_at or delete on session
  for each row execute function announce_row('session', 'id');
create trigger app_user_announced after update or delete on app_user
  for each row execute function announce_row('user', 'id');
create trigger quality_snapshot_announced after insert or update or delete on quality_snapshot
  for each row execute function announce_row('quality', 'project_id');
`

export const announcedRows = Effect.flatMap(SqlClient, (sql) => sql.unsafe(announced))
