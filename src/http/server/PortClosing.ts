import cluster from "node:cluster"
import * as Net from "node:net"
import * as Effect from "effect/Effect"

/** A connection of our own that was accepted sooner than this had next to none behind it. */
const quietMillis = 1
const maxAttempts = 200

/**
 * Closes the port and no connection: `close` of an HTTP server would end idle ones, on which a request may be on its way.
 *
 * What waits to be accepted when the port is closed is reset, and a balancer does not repeat a POST that it has sent. So the
 * port is closed in the moment in which a connection of our own is accepted: all before it were accepted too, and behind it
 * there is only what came since it was made. While the event loop is busy that is too long, and it is tried again. With several
 * workers the supervisor has the port.
 */
export const stopListening = (server: Net.Server): Effect.Effect<void> =>
  Effect.async((resume) => {
    let attempts = 0
    let madeAtMillis = 0
    let own: Net.Socket | undefined

    const close = (): void => {
      server.off("connection", accepted)
      own?.destroy()
      Net.Server.prototype.close.call(server)
      resume(Effect.void)
    }
    const attempt = (): void => {
      attempts += 1
      madeAtMillis = performance.now()
      own = Net.connect(ownAddress(server))
      own.once("error", close)
    }
    const accepted = (socket: Net.Socket): void => {
      if (own === undefined || socket.remotePort !== own.localPort) return
      socket.destroy()
      if (performance.now() - madeAtMillis <= quietMillis || attempts >= maxAttempts) close()
      else {
        own.destroy()
        setImmediate(attempt)
      }
    }
    if (cluster.isWorker) return close()
    server.on("connection", accepted)
    attempt()
  })

const ownAddress = (server: Net.Server): { readonly host: string; readonly port: number } => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("an HTTP server on TCP has an address")
  const host = address.address === "0.0.0.0" ? "127.0.0.1" : address.address === "::" ? "::1" : address.address
  return { host, port: address.port }
}
