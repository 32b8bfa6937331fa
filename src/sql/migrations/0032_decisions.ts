import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Which grades no snapshot has yet. */
const pending = `
alter table quality_evidence add column is_published boolean not null default false;
comment on column quality_evidence.is_published is 'A snapshot was made since it was recorded';
create index quality_evidence_pending on quality_evidence (project_id) where not is_published;
comment on column call.features is
  'What the router saw of the request, as JSON without any text of its messages: classes of the prompt, length, requirements, and what the request restricts. With the propensity of the first candidate where chance decided, and the version of the quality snapshot. Null where it named its model';
`

export const decisions = Effect.flatMap(SqlClient, (sql) => sql.unsafe(pending))
