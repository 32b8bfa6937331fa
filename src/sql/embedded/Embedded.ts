import { existsSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import Pg from "pg"
import { closedWithin } from "../../domain/Closing.ts"
import { DatabaseFailed, type DirectoryInUse } from "../DatabaseError.ts"
import { PooledClient } from "../PooledClient.ts"
import * as DirectoryLock from "./DirectoryLock.ts"
import { unencrypted, Wire } from "./Wire.ts"
import type { FromWorker, ToWorker } from "./worker.js"

export interface Embedded {
  readonly pool: Pg.Pool
  /** For the account API: its statements queue among few connections, so that most of the queue is left to calls. */
  readonly accountPool: Pg.Pool
  /** Fails when the database's thread ends by itself; every later query fails. */
  readonly died: Effect.Effect<never, DatabaseFailed>
}

/** Whether there is a database in the directory; `open` makes one where there is none. */
export const isIn = (directory: string): Effect.Effect<boolean> =>
  Effect.sync(() => existsSync(join(directory, "database")))

/** One session serves all connections, so more connections would only queue inside it. */
const connections = 8
const accountConnections = 2
/** Time for the thread to write its last pages after the pool has ended. */
const closeMillis = 10_000

/** Opens PGlite in a worker thread, in `directory` or in memory (`null`), behind an ordinary `pg` pool. */
export const open = (directory: string | null): Effect.Effect<Embedded, DirectoryInUse | DatabaseFailed, Scope.Scope> =>
  Effect.gen(function* () {
    if (directory !== null) yield* DirectoryLock.acquire(directory)
    const died = yield* Deferred.make<never, DatabaseFailed>()
    const bridge = yield* Effect.acquireRelease(start(directory, died), (bridge) =>
      Effect.promise(() => bridge.close()).pipe(
        closedWithin(closeMillis),
        Effect.ensuring(Effect.promise(() => bridge.worker.terminate()))
      )
    )
    return { pool: bridge.pool, accountPool: bridge.accountPool, died: Deferred.await(died) }
  })

interface Bridge {
  readonly worker: Worker
  readonly pool: Pg.Pool
  readonly accountPool: Pg.Pool
  readonly close: () => Promise<void>
}

const start = (
  directory: string | null,
  died: Deferred.Deferred<never, DatabaseFailed>
): Effect.Effect<Bridge, DatabaseFailed> =>
  Effect.async((resume) => {
    const wires = new Map<number, Wire>()
    const ids = new Map<Wire, number>()
    let lastId = 0
    let lost: DatabaseFailed | undefined
    let ended: (() => void) | undefined
    // Both builds put the worker beside this file.
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: { directory } })
    const post = (message: ToWorker, transfer: ReadonlyArray<ArrayBuffer> = []) =>
      worker.postMessage(message, [...transfer])

    const fail = (cause: unknown) => {
      if (lost !== undefined || ended !== undefined) return ended?.()
      lost = new DatabaseFailed({ database: directory ?? "the database in memory", cause })
      resume(Effect.fail(lost))
      Deferred.unsafeDone(died, Effect.fail(lost))
      for (const wire of [...ids.keys()]) wire.destroy(lost)
    }

    const stream = () =>
      new Wire({
        opened: (wire) => {
          if (lost !== undefined) {
            const error = lost
            process.nextTick(() => wire.destroy(error))
            return
          }
          lastId += 1
          wires.set(lastId, wire)
          ids.set(wire, lastId)
          post({ type: "open", id: lastId })
        },
        written: (wire, bytes) => {
          const id = ids.get(wire)
          if (id !== undefined) post({ type: "data", id, bytes }, [bytes.buffer])
        },
        closed: (wire) => {
          const id = ids.get(wire)
          if (id === undefined) return
          ids.delete(wire)
          wires.delete(id)
          post({ type: "close", id })
        }
      })

    const poolOf = (max: number): Pg.Pool => {
      // without cancel requests: one would queue behind the statement that it should end
      const pool = new Pg.Pool({ ...unencrypted, Client: PooledClient, max, idleTimeoutMillis: 0, stream })
      // Idle connections fail with the thread; `died` reports it.
      pool.on("error", () => {})
      return pool
    }
    const [pool, accountPool] = [poolOf(connections), poolOf(accountConnections)]

    worker.on("message", (message: FromWorker) => {
      switch (message.type) {
        case "ready":
          return resume(Effect.succeed({ worker, pool, accountPool, close }))
        case "data": {
          const { bytes } = message
          wires.get(message.id)?.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
          return
        }
        case "ended":
          return ended?.()
      }
    })
    worker.on("error", fail)
    worker.on("exit", (code) => fail(new Error(`the embedded database's thread ended with code ${code}`)))

    const close = async () => {
      await Promise.all([pool.end(), accountPool.end()])
      if (lost !== undefined) return
      await new Promise<void>((resolve) => {
        ended = resolve
        post({ type: "end" })
      })
    }
  })
