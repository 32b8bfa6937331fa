import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Responses of requests with an Idempotency-Key, so that a repeated request is not run again. */
export const idempotency = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`create table idempotent_request (
    key_id uuid not null references api_key (id) on delete cascade,
    idempotency_key text not null,
    -- of the run that owns the row: a run that was given up for dead must not write over its successor
    run_id uuid not null,
    request_hash bytea not null,
    state text not null check (state in ('running', 'finished')),
    content_type text,
    -- sealed with a key that only the API key's holder has
    answer bytea,
    expires_at timestamptz not null,
    primary key (key_id, idempotency_key),
    check ((state = 'finished') = (answer is not null and content_type is not null))
  )`
  yield* sql`create index idempotent_request_expiry on idempotent_request (expires_at)`
})
