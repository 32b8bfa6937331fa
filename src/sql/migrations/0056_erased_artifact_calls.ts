import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * What the deletion of an artifact erases from now on, of those that were deleted before. An artifact was deleted while no answer was
 * written: the answers before it had the calls for it, by the name in their results. Texts of calls may be no JSON.
 */
const texts = `
with deleted as (
  select conversation_id, name, max(deleted_at) as deleted_at from chat_artifact
  where deleted_at is not null group by conversation_id, name
), erased as (
  select m.id, jsonb_agg(jsonb_set(step.value, '{calls}', (
    select coalesce(jsonb_agg(case when d.name is null then call.value else call.value || jsonb_build_object(
      'arguments', (case call.value->>'name'
        when 'write_artifact' then jsonb_build_object('name', d.name, 'media_type', 'text/plain', 'content', note)
        else jsonb_build_object('name', d.name, 'old_text', note, 'new_text', note) end)::text,
      'result', regexp_replace(call.value->>'result', '^The arguments are not valid:.*', 'The arguments are not valid.')) end
      order by call.ordinality), '[]')
    from jsonb_array_elements(step.value->'calls') with ordinality as call
    left join lateral (
      select name from deleted where conversation_id = m.conversation_id and m.created_at < deleted_at
        and call.value->>'name' in ('write_artifact', 'edit_artifact')
        and position(to_json(name)::text in
          call.value->>case when (call.value->>'isError')::boolean then 'arguments' else 'result' end) > 0
      limit 1
    ) d on true
  )) order by step.ordinality) as steps
  from chat_message m
  cross join (values ('[deleted by the user]')) as notes (note)
  cross join jsonb_array_elements(m.steps) with ordinality as step
  where m.conversation_id in (select conversation_id from deleted)
  group by m.id
)
update chat_message m set steps = erased.steps from erased where m.id = erased.id and m.steps <> erased.steps;
`

export const erasedArtifactCalls = Effect.flatMap(SqlClient, (sql) => sql.unsafe(texts))
