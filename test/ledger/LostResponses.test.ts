import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { freshDatabase, postgresAt, postgresServer } from "./databases.ts"
import { newCaller, option, wants } from "./fixtures.ts"

/** A fatal error, as a server or a pooler sends it. */
const fatal = (state: string, message: string): Buffer => {
  const fields = `SFATAL\0VFATAL\0C${state}\0M${message}\0\0`
  const header = Buffer.alloc(5)
  header.write("E")
  header.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([header, Buffer.from(fields)])
}

/** A pooler that loses its connection to the server once a batch is written, before it has passed on the response. */
const poolerAt = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const target = new URL(url)
      const [host, port] = [target.hostname, Number(target.port)]
      let error: Buffer | undefined
      const server = createServer((near) => {
        const far = connect(port, host)
        let isLost = false
        near.on("error", () => {}).on("close", () => far.destroy())
        far.on("error", () => {}).on("close", () => near.destroy())
        near.on("data", (sent) => {
          isLost ||= error !== undefined && (sent.includes("ledger_apply") || sent.includes("ledger_reserve"))
          far.write(sent)
        })
        far.on("data", (received) => {
          if (!isLost) return near.write(received)
          near.end(error ?? "")
          error = undefined
        })
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      target.port = String((server.address() as AddressInfo).port)
      return {
        url: target.href,
        losesNext: (response: Buffer) => {
          error = response
        },
        server
      }
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

describe.skipIf(postgresServer === undefined)("a batch whose response a pooler has lost", () => {
  it.scopedLive.each([
    ["08P01", "server conn crashed?"],
    ["58000", "the connection to the server is gone"],
    ["XX000", "internal error of the pooler"],
    ["57P01", "terminating connection due to administrator command"]
  ] as const)("leaves no hold, where it says %s", ([state, message]) =>
    Effect.gen(function* () {
      const { losesNext, url } = yield* poolerAt(yield* freshDatabase(postgresServer ?? ""))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        const ledger = yield* Ledger
        const wanted = wants(yield* newCaller({}), option(400))
        losesNext(fatal(state, message))
        expect(yield* Effect.flip(ledger.reserve(wanted))).toMatchObject({ _tag: "StoreUnavailable" })
        yield* ledger.flushed
        expect(yield* sql`select state from hold where id = ${wanted.callId}`).toEqual([{ state: "void" }])
        expect(yield* ledger.checkInvariants).toEqual([])
      }).pipe(
        Effect.provide(
          LedgerLayer().pipe(
            Layer.provideMerge(postgresAt(url)),
            Layer.provide(IdGenerator.layer),
            Layer.provideMerge(Timers.layer)
          )
        )
      )
    })
  )
})
