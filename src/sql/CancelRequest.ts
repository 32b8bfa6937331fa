import Pg from "pg"

/** Where a statement runs: members of the driver's client. */
export interface Backend {
  readonly host: string
  readonly port: number
  readonly ssl: unknown
  readonly sslNegotiation: string
  readonly processId: number
  readonly secretKey: number
}

/** Of the driver's connection, what its types leave out. */
interface Connection extends Pg.Connection {
  readonly connect: (port: number | string, host?: string) => void
  readonly requestSsl: () => void
  readonly cancel: (processId: number, secretKey: number) => void
}

const Connection = Pg.Connection as unknown as new (options: Pick<Backend, "ssl" | "sslNegotiation">) => Connection

/**
 * Asks the server to end the statement that a process of it runs, over a connection of its own, as libpq does: that needs no place
 * in a pool, and a pooler before the server knows whose process it is. The server closes the connection when the process has been
 * told; `onOver` is called then, or when the server cannot be reached. The result gives the request up.
 */
export const requestCancel = (backend: Backend, onOver: () => void): (() => void) => {
  const { host, port, processId, secretKey, ssl, sslNegotiation } = backend
  const connection = new Connection({ ssl, sslNegotiation })
  const giveUp = () => connection.stream.destroy()
  connection.once(ssl ? "sslconnect" : "connect", () => connection.cancel(processId, secretKey))
  if (ssl && sslNegotiation !== "direct") connection.once("connect", () => connection.requestSsl())
  connection.on("error", giveUp)
  connection.once("end", onOver)
  if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
  return giveUp
}
