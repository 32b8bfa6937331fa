// @ts-check
// A second account with a project, a key and money, written past the service while it is stopped.
import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { PGlite } from "@electric-sql/pglite"
import Pg from "pg"

export const secondKey = "mrg_sk_SECONDTENANTSECONDTENANTSECOND000okTUM"

/** @param {number} n */
const id = (n) => `00000000-0000-4000-8000-00000000000${n}`
const credit = 1_000_000_000_000
const statements = [
  `insert into app_user (id, name) values ('${id(1)}', 'second')`,
  `insert into account (id, user_id) values ('${id(2)}', '${id(1)}')`,
  `insert into project (id, account_id, name) values ('${id(3)}', '${id(2)}', 'second')`,
  `insert into api_key (id, hash, key_prefix, name, project_id) values ('${id(4)}',
    decode('${createHash("sha256").update(secondKey).digest("hex")}', 'hex'), '${secondKey.slice(0, 12)}', 'second', '${id(3)}')`,
  `insert into scope (id, kind, limit_micro_usd) values ('${id(2)}', 'account', ${credit}), ('${id(3)}', 'project', null),
    ('${id(4)}', 'key', null)`
]

/** @param {{ dataDir: string, url: string | undefined }} database */
export const addSecondTenant = async ({ dataDir, url }) => {
  if (url !== undefined) {
    const client = new Pg.Client({ connectionString: url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    return client.end()
  }
  const folder = readdirSync(dataDir, { withFileTypes: true }).find((entry) => entry.isDirectory())
  const database = await PGlite.create({ dataDir: folder === undefined ? dataDir : join(dataDir, folder.name) })
  for (const statement of statements) await database.query(statement)
  await database.close()
}
