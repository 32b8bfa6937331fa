import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What an action of an analysis has changed, so that it can be taken back. */
const changes = `
alter table analysis_action
  add column kind text not null default 'client_hint'
    check (kind in ('policy', 'routing_configuration', 'client_hint')),
  add column slug text,
  add column fields_before jsonb,
  add column fields_after jsonb,
  add check ((kind = 'client_hint') = (fields_before is null)),
  add check ((fields_before is null) = (fields_after is null)),
  add check ((kind = 'routing_configuration') = (slug is not null));
comment on column analysis_action.slug is 'Of the routing configuration that was changed';
comment on column analysis_action.fields_before is 'The fields that were changed, as they were before';
`

export const analysisChanges = Effect.flatMap(SqlClient, (sql) => sql.unsafe(changes))
