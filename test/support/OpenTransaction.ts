import { setImmediate } from "node:timers/promises"
import Pg from "pg"

/** A transaction that is open until it is committed; statements after that are by themselves. */
export interface OpenTransaction {
  readonly query: (text: string, values?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** Resolves when each of these waits for a lock, or has ended. */
  readonly holdsBack: (...running: ReadonlyArray<Promise<unknown>>) => Promise<void>
  readonly commit: () => Promise<void>
}

/** Runs `use` beside a transaction of another connection to a PostgreSQL server, which ends with it. */
export const withOpenTransaction = async <A>(
  url: string | undefined,
  use: (other: OpenTransaction) => Promise<A>
): Promise<A> => {
  const client = new Pg.Client({ connectionString: url })
  await client.connect()
  try {
    const query: OpenTransaction["query"] = async (text, values = []) => (await client.query(text, [...values])).rows
    const waiting = async () => {
      // what a transaction has seen of the server's connections stays the same until it asks anew
      await query("select pg_stat_clear_snapshot()")
      return Number((await query(countWaiting))[0]?.["n"])
    }
    await query("begin")
    return await use({
      query,
      holdsBack: async (...running) => {
        let ended = 0
        const end = () => {
          ended += 1
        }
        for (const each of running) void each.then(end, end)
        while ((await waiting()) + ended < running.length) await setImmediate()
      },
      commit: async () => {
        await query("commit")
      }
    })
  } finally {
    await client.end()
  }
}

const countWaiting =
  "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
