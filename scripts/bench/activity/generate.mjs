// @ts-check
// Fills a migrated database with calls of the past: holds, calls, attempts and journal rows as the ledger would have written them.

/** @typedef {{ account: string, project: string, keys: ReadonlyArray<string> }} Tenant */

const portion = 20_000
/** The calls are spread evenly over so many days, up to now. */
export const generatedDays = 30

/**
 * One project with 20 keys, ten models of five providers and a rare one; 3 % of its calls fail.
 *
 * @param {{ query: (text: string, values?: Array<unknown>) => Promise<unknown> }} client
 * @param {number} calls
 * @param {Tenant} tenant
 */
export const generate = async (client, calls, { account, keys, project }) => {
  for (let from = 0; from < calls; from += portion) {
    await client.query(
      `with source as materialized (
        select n, ($3::uuid[])[1 + n % $4] as key_id, now() - ($5::bigint - n) * interval '${generatedDays} days' / $5::bigint as at,
          n % 33 = 7 as failed, case when n % 99991 = 5 then 10 else (n / 20) % 10 end as model
        from generate_series($6::bigint, $7::bigint) as n
      ), rows as materialized (
        select *, (substr(t, 1, 8) || '-' || substr(t, 9, 4) || '-7' || substr(r, 1, 3) || '-8' || substr(r, 4, 3) || '-'
          || substr(r, 7, 12))::uuid as id, 'p' || model / 2 as provider
        from (select s.*, lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as t,
          md5(n::text || $2::uuid::text) as r from source s) x
      ), holds as (
        insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd, actual_micro_usd, state,
          node, created_at, closed_at)
        select id, key_id, $2::uuid, $1::uuid, true, 'auto', 2000, case when failed then 0 else 100 + n % 900 end,
          case when failed then 'void' else 'settled' end, $2::uuid, at, at from rows
      ), calls as (
        insert into call (id, key_id, project_id, account_id, requested_model, model, provider, endpoint, stream, token_doctor,
          status, error_code, cost_micro_usd, cost_basis, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
          reasoning_tokens, input_audio_tokens, output_audio_tokens, accepted_prediction_tokens, rejected_prediction_tokens,
          latency_millis, first_content_millis, reason, policy_version, pool, attempt_started_at, attempt_latency_millis, started_at,
          written_at)
        select id, key_id, $2::uuid, $1::uuid, 'auto', provider || '/m' || model, provider, 'chat', true, false,
          case when failed then 'error' else 'success' end, case when failed then 'provider_error' end,
          case when failed then 0 else 100 + n % 900 end, 'charged', 500 + n % 1000, 0, 0, n % 700, 0, 0, 0, 0, 0,
          800 + n % 3000, 200 + n % 500, 'quality_cost_tradeoff', 1, array[provider || '/m' || model, 'p0/m0'],
          case when not failed then at end, case when not failed then 800 + n % 3000 end, at, at
        from rows order by n
      ), attempts as (
        insert into attempt (call_id, position, provider, model, status, cost_micro_usd, cost_basis, latency_millis)
        select id, 0, provider, provider || '/m' || model, 'error', 0, 'charged', 800 + n % 3000 from rows where failed order by n
      )
      insert into journal (kind, debit, credit, amount_micro_usd, call_id, at)
      select 'usage', 'account:' || $1::uuid::text, 'revenue', 100 + n % 900, id, at from rows where not failed order by n`,
      [account, project, `{${keys.join(",")}}`, keys.length, calls, from + 1, Math.min(calls, from + portion)]
    )
  }
  // none of them is open
  await client.query("update open_holds set since = now() - interval '1 minute'")
  await client.query("vacuum analyze call")
  await client.query("vacuum analyze attempt")
  await client.query("vacuum analyze hold")
}
