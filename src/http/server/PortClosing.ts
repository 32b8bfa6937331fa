import cluster from "node:cluster"
import * as Net from "node:net"
import * as Effect from "effect/Effect"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"

/** A connection of our own that is not accepted by then may not have been let into the queue: it would come again after a second. */
const attemptMillis = 2
const maxAttempts = 500

/**
 * Closes the port and no connection: `close` of an HTTP server would end idle ones, on which a request may be on its way.
 *
 * What waits to be accepted when the port is closed is reset, and a balancer does not repeat a POST that it has sent. So the queue
 * is emptied and kept so: once a connection of our own is accepted, the queue is shortened to one place, which a second one of our
 * own takes; the kernel drops what comes behind it, and whoever has sent it tries again in a second and is refused. The port is
 * closed in the moment in which the second one is accepted. With several workers the supervisor has the port.
 */
export const stopListening = (server: Net.Server, timers: TimersShape): Effect.Effect<void> =>
  Effect.async((resume) => {
    const own: Array<Net.Socket> = []
    let cancelRetry: Cancel = () => {}
    let isShortened = false

    const close = (): void => {
      Net.Server.prototype.close.call(server)
      cancelRetry()
      server.off("connection", accepted)
      for (const socket of own) socket.destroy()
      resume(Effect.void)
    }
    const attempt = (): void => {
      if (own.length >= maxAttempts) return close()
      const socket = Net.connect(ownAddress(server))
      socket.on("error", () => {})
      own.push(socket)
      cancelRetry()
      cancelRetry = timers.after(attemptMillis, attempt)
    }
    const accepted = (socket: Net.Socket): void => {
      const index = own.findIndex(({ localPort }) => localPort === socket.remotePort)
      if (index < 0) return
      if (isShortened) close()
      else {
        isShortened = true
        shortenQueue(server)
        for (const one of own.splice(0)) one.destroy()
        attempt()
      }
      socket.destroy()
    }
    if (cluster.isWorker) return close()
    // before the server begins with the connection, which takes its time
    server.prependListener("connection", accepted)
    attempt()
  })

/** Sockets can be told to listen again, with a shorter queue: node has that on its handle alone. */
const shortenQueue = (server: Net.Server): void => {
  const handle: unknown = Reflect.get(server, "_handle")
  if (typeof handle !== "object" || handle === null || !("listen" in handle)) return
  const { listen } = handle
  if (typeof listen === "function") listen.call(handle, 0)
}

const ownAddress = (server: Net.Server): { readonly host: string; readonly port: number } => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("an HTTP server on TCP has an address")
  const host = address.address === "0.0.0.0" ? "127.0.0.1" : address.address === "::" ? "::1" : address.address
  return { host, port: address.port }
}
