// @ts-check
// The programs behind the account API, and a gateway's database with many calls of the past.
import { importSources } from "../../lib/sources.mjs"
import { generate } from "./generate.mjs"

/** The bundle is elsewhere than the worker of the embedded database. */
const worker = new URL("../../../src/sql/embedded/worker.js", import.meta.url).href
/** @type {typeof import("./sources.ts")} */
export const library = await importSources(new URL("./sources.ts", import.meta.url), [
  {
    file: "src/sql/embedded/Embedded.ts",
    find: 'new URL("./worker.js", import.meta.url)',
    replace: `new URL(${JSON.stringify(worker)})`
  }
])

/** @typedef {Awaited<ReturnType<typeof library.open>>} Programs */

/** Gives the default project of a gateway its past. @param {{ url: string | undefined, dataDir: string }} database @param {number} calls */
export const fill = async ({ dataDir, url }, calls) => {
  const programs = await library.open(url, dataDir)
  const [owner] = await programs.query(
    "select p.id as project, p.account_id as account, k.id as key from project p join api_key k on k.project_id = p.id"
  )
  if (owner === undefined) throw new Error("the gateway has made no project at its first start")
  const tenant = { account: String(owner["account"]), project: String(owner["project"]), keys: [String(owner["key"])] }
  await generate(programs, calls, tenant)
  await programs.sumUp()
  const scopes = [`{${[tenant.account, tenant.project, ...tenant.keys].join(",")}}`]
  await programs.query(
    "update scope set spent_micro_usd = (select sum(actual_micro_usd) from hold) where id = any($1::uuid[])",
    scopes
  )
  // as if the ledger had been checked all the time: else the first checks would go through all of it meanwhile
  await programs.query(
    "insert into ledger_scope_base (scope_id, spent_micro_usd) select id, spent_micro_usd from scope where id = any($1::uuid[])",
    scopes
  )
  await programs.query(
    "update ledger_check set holds_through = (select since from open_holds) - interval '1 minute', journal_through = (select max(id) from journal)"
  )
  // as if it had been filled in months: what a bulk load leaves to autovacuum and to the next checkpoint would be measured with it
  await programs.query("vacuum analyze")
  await programs.query("checkpoint")
  await programs.close()
}
