import { SqlError } from "@effect/sql/SqlError"
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import Pg from "pg"
import { closedWithin } from "../domain/Closing.ts"

const connectMillis = 5_000
const closeMillis = 1_000

/**
 * Receives what is notified on a channel until the connection fails. It is a connection of its own: sql-pg shares one among all
 * listeners, would use a dead one again, and leaves one open forever whose listener is interrupted while it is made. The embedded
 * database has no URL, and no connection that could break.
 */
export const listenOn = (
  client: PgClient.PgClient,
  channel: string,
  receive: (payload: string) => void
): Effect.Effect<never, SqlError> =>
  client.config.url === undefined
    ? client.listen(channel).pipe(
        Stream.runForEach((payload) => Effect.sync(() => receive(payload))),
        Effect.zipRight(Effect.fail(failed(undefined)))
      )
    : connected(client.config, client.config.url).pipe(
        Effect.flatMap((connection) => received(connection, channel, receive)),
        Effect.scoped
      )

const failed = (cause: unknown): SqlError => new SqlError({ cause, message: "the listening connection has ended" })

/** Whoever is interrupted meanwhile waits until it can be closed. */
const connected = (
  { applicationName, ssl }: PgClient.PgClientConfig,
  url: Redacted.Redacted
): Effect.Effect<Pg.Client, SqlError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const connection = new Pg.Client({
          connectionString: Redacted.value(url),
          application_name: applicationName,
          ssl,
          connectionTimeoutMillis: connectMillis,
          keepAlive: true
        })
        // one that breaks with nobody listening would end the process
        connection.on("error", () => {})
        await connection.connect()
        return connection
      },
      catch: (cause) => new SqlError({ cause, message: "the listening connection could not be opened" })
    }),
    // a server that no longer responds does not acknowledge the close
    (connection) => Effect.promise(() => connection.end()).pipe(closedWithin(closeMillis))
  )

const received = (
  connection: Pg.Client,
  channel: string,
  receive: (payload: string) => void
): Effect.Effect<never, SqlError> =>
  Effect.async((resume) => {
    const fail = (cause?: unknown): void => resume(failed(cause))
    connection.once("error", fail)
    connection.once("end", fail)
    connection.on("notification", (message) => {
      if (message.channel !== channel || message.payload === undefined) return
      try {
        receive(message.payload)
      } catch (defect) {
        resume(Effect.die(defect))
      }
    })
    connection.query(`listen ${Pg.escapeIdentifier(channel)}`).catch(fail)
  })
