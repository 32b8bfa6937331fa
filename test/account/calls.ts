import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { CallStatus } from "../../src/domain/Call.ts"
import type { CallerShape } from "../../src/domain/Caller.ts"

/** A call as the ledger would have written it `agoSeconds` ago. */
export interface LoggedCall {
  readonly caller: Pick<CallerShape, "accountId" | "projectId" | "keyId">
  readonly agoSeconds: number
  readonly status?: CallStatus
  /** `<provider>/<model>`; `null` when nothing was called. */
  readonly model?: string | null
  readonly costMicroUsd?: number
  /** Prompt and completion tokens; `null` when nothing is known of the usage. */
  readonly tokens?: readonly [prompt: number, completion: number] | null
}

/** Writes rows of the call log without the ledger, at times of one's choice; returns their ids. */
export const logCalls = (calls: ReadonlyArray<LoggedCall>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const ids = calls.map(() => randomUUID())
    const rows = calls.map((call, index) => {
      const model = call.model === undefined ? "sim/large" : call.model
      const status = call.status ?? "success"
      const tokens = call.tokens === undefined ? [10, 20] : call.tokens
      return {
        id: ids[index],
        account_id: call.caller.accountId,
        project_id: call.caller.projectId,
        key_id: call.caller.keyId,
        status,
        model,
        provider: model === null ? null : model.slice(0, model.indexOf("/")),
        cost: call.costMicroUsd ?? 0,
        prompt: tokens === null ? null : tokens[0],
        completion: tokens === null ? null : tokens[1],
        ago: `${call.agoSeconds} seconds`
      }
    })
    yield* sql`
      insert into call (id, account_id, project_id, key_id, requested_model, model, provider, endpoint, stream, token_doctor,
        status, error_code, cost_micro_usd, cost_basis, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, latency_millis, pool, started_at, written_at)
      select c.id, c.account_id, c.project_id, c.key_id, 'auto', c.model, c.provider, 'chat', false, false, c.status,
        case when c.status <> 'success' then 'provider_error' end, c.cost, 'charged', c.prompt, 0 * c.prompt, 0 * c.prompt,
        c.completion, 0 * c.completion, 5, '{sim/large}', now() - c.ago::interval, now() - c.ago::interval
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as c(id uuid, account_id uuid, project_id uuid, key_id uuid,
        status text, model text, provider text, cost bigint, prompt bigint, completion bigint, ago text)`
    return ids
  })
