import Pg from "pg"

/** Where `globalSetup` says which database has the schema of this version. */
const templateVariable = "TEST_DATABASE_TEMPLATE"

export const administer = async (server: string, ...statements: ReadonlyArray<string>): Promise<void> => {
  const client = new Pg.Client({ connectionString: server })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

export const urlOf = (server: string, name: string): string =>
  Object.assign(new URL(server), { pathname: `/${name}` }).href

/**
 * The variables of a service on this database. Three files run at once, some with four processes, and a server has 100 connections
 * by default: with pools of the default size a start could find none left.
 */
export const databaseVariables = (url: string): Readonly<Record<string, string>> => ({
  DATABASE_URL: url,
  DATABASE_POOL_SIZE: "5"
})

/** Migrated already: a copy takes a tenth of the time of all migrations. No test outlives the server: no commit waits for its disk. */
export const createDatabase = (server: string, name: string): Promise<void> => {
  const template = process.env[templateVariable]
  return administer(
    server,
    template === undefined ? `create database ${name}` : `create database ${name} template ${template}`,
    `alter database ${name} set synchronous_commit = off`
  )
}

export const dropDatabase = (server: string, name: string): Promise<void> =>
  administer(server, `drop database ${name} with (force)`)

/** For `createDatabase`, in all processes of the run that are started from now on. */
export const copyFrom = (template: string): void => {
  process.env[templateVariable] = template
}
