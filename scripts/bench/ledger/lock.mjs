// @ts-check
// What other accounts notice when something has the row of one account locked: their calls without a lock and beside one, in one
// run. Needs PostgreSQL: TEST_DATABASE_URL=... node scripts/bench/ledger/lock.mjs [--rounds 5] [--calls 4000] [--clients 8]
import { performance } from "node:perf_hooks"
import { parseArgs } from "node:util"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import Pg from "pg"
import { importSources } from "../../lib/sources.mjs"
import { createDatabase } from "../lib/database.mjs"

/** @type {typeof import("./sources.ts")} */
const library = await importSources(new URL("./sources.ts", import.meta.url))
/** @typedef {Effect.Effect.Success<ReturnType<typeof library.newCaller>>} Caller */

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "4000" },
    clients: { type: "string", default: "8" }
  }
})
const [rounds, calls, clients] = [Number(options.rounds), Number(options.calls), Number(options.clients)]
const accounts = 4
const credit = 1_000_000_000

const database = await createDatabase()
if (database === undefined) throw new Error("TEST_DATABASE_URL names no server")

/** Has the account's row locked while `use` runs. @template A, E, R @param {Caller} caller @param {Effect.Effect<A, E, R>} use */
const whileLocked = ({ accountId }, use) =>
  Effect.acquireUseRelease(
    Effect.promise(async () => {
      const client = new Pg.Client({ connectionString: database.url })
      await client.connect()
      await client.query("begin")
      await client.query("select from scope where id = $1 for update", [accountId])
      return client
    }),
    () => use,
    (client) => Effect.promise(() => client.end())
  )

/** @param {Caller} caller */
const call = (caller) =>
  Effect.gen(function* () {
    const ledger = yield* library.Ledger
    const startedAt = performance.now()
    const held = yield* Effect.either(ledger.reserve(library.wants(caller, library.option(50))))
    if (Either.isRight(held)) yield* ledger.settle(held.right, library.settled(10))
    return { isHeld: Either.isRight(held), millis: performance.now() - startedAt }
  })

/** @param {ReadonlyArray<Caller>} callers */
const load = (callers) =>
  Effect.forEach(
    Array.from({ length: calls }, (_, n) => /** @type {Caller} */ (callers[n % callers.length])),
    call,
    { concurrency: clients }
  )

/** @param {ReadonlyArray<{ readonly isHeld: boolean, readonly millis: number }>} ended */
const figures = (ended) => {
  const times = ended.map(({ millis }) => millis).sort((a, b) => a - b)
  const at = (/** @type {number} */ share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), refused: ended.filter(({ isHeld }) => !isHeld).length }
}

/** @param {ReturnType<typeof figures>} found */
const shown = ({ p50, p99, refused }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${refused} refused`

const median = (/** @type {ReadonlyArray<number>} */ values) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

const program = Effect.gen(function* () {
  const callers = yield* Effect.forEach(Array.from({ length: accounts }), () => library.newCaller({ credit }))
  yield* load(callers)
  /** @type {Array<number>} */
  const ratios = []
  for (let round = 1; round <= rounds; round++) {
    // an account that no batch has met locked before
    const victim = yield* library.newCaller({ credit })
    const alone = figures(yield* load(callers))
    const beside = yield* whileLocked(
      victim,
      Effect.gen(function* () {
        yield* Effect.fork(Effect.forEach([1, 2, 3], () => call(victim)))
        return figures(yield* load(callers))
      })
    )
    ratios.push(beside.p99 / alone.p99)
    console.log(`round ${round}: alone ${shown(alone)}; beside a locked account ${shown(beside)}`)
  }
  console.log(
    `p99 beside a locked account: ${median(ratios).toFixed(2)} times that without one (median of ${rounds} rounds)`
  )
})

const services = library
  .LedgerLayer()
  .pipe(
    Layer.provideMerge(library.databaseLayer({ url: Option.some(Redacted.make(database.url)), dataDir: "" })),
    Layer.provide(library.IdGenerator.layer),
    Layer.provide(library.Timers.layer)
  )
await Effect.runPromise(Effect.provide(program, services)).finally(() => database.drop())
