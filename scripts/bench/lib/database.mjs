// @ts-check
// A PostgreSQL database of the benchmark's own, on the server that TEST_DATABASE_URL names.
import Pg from "pg"

/** `undefined` when there is no server; else the database's URL and how to drop it. */
export const createDatabase = async () => {
  const server = process.env["TEST_DATABASE_URL"]
  if (server === undefined || server === "") return undefined
  const name = `gateway_bench_${process.pid}_${++created}`
  if (!(await execute(server, `create database ${name}`))) return undefined
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(server, `drop database if exists ${name} with (force)`) }
}

let created = 0

/** @param {string} url @param {string} statement */
const execute = async (url, statement) => {
  const client = new Pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 })
  try {
    await client.connect()
    await client.query(statement)
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
