import cluster from "node:cluster"
import { readFileSync } from "node:fs"
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
 * has nothing but a connection of our own in that moment: once one of our own is accepted, the queue is shortened to one place.
 * When that place is left, another one of our own takes it before anything else is accepted, and the port is closed behind it. The
 * kernel drops what comes meanwhile; who has sent it tries again in a second and is refused. Where the kernel does not tell who has
 * the place, what comes in the last microseconds is reset. With several workers the supervisor has the port.
 */
export const stopListening = (server: Net.Server, timers: TimersShape): Effect.Effect<void> =>
  Effect.async((resume) => {
    const own: Array<Net.Socket> = []
    let cancelRetry: Cancel = () => {}
    let isShortened = false
    let isOpen = true

    const close = (): void => {
      isOpen = false
      Net.Server.prototype.close.call(server)
      cancelRetry()
      server.off("connection", accepted)
      for (const socket of own) socket.destroy()
      resume(Effect.void)
    }
    const attempt = (): void => {
      if (own.length >= maxAttempts) {
        close()
        return
      }
      const socket = Net.connect(ownAddress(server))
      socket.on("error", () => {})
      own.push(socket)
      cancelRetry()
      cancelRetry = timers.after(attemptMillis, attempt)
    }
    const accepted = (socket: Net.Socket): void => {
      const isOwn = own.some(({ localPort }) => localPort === socket.remotePort)
      if (isOwn) socket.destroy()
      // whoever was accepted has left the only place
      if (isShortened) closeBehindOwn()
      else if (isOwn) {
        isShortened = true
        shortenQueue(server)
        attempt()
      }
    }
    const closeBehindOwn = (): void => {
      const last = Net.connect(ownAddress(server))
      last.on("error", () => {})
      own.push(last)
      // node connects in the next tick; until these are over nothing is accepted
      process.nextTick(() => {
        if (isOpen && isWaiting(server, last) !== false) close()
      })
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

/** Whether this connection waits to be accepted; `undefined` where the system does not tell. */
const isWaiting = (server: Net.Server, { localPort }: Net.Socket): boolean | undefined => {
  const { host, port } = ownAddress(server)
  try {
    const connections = readFileSync(Net.isIPv6(host) ? "/proc/net/tcp6" : "/proc/net/tcp", "latin1")
    const [own, other] = [portIn(port), portIn(localPort ?? 0)]
    return connections.split("\n").some((line) => {
      const [, local = "", remote = "", state] = line.trim().split(" ")
      return local.endsWith(own) && remote.endsWith(other) && state === established
    })
  } catch {
    return undefined
  }
}

const established = "01"
const portIn = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, "0")}`

const ownAddress = (server: Net.Server): { readonly host: string; readonly port: number } => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("an HTTP server on TCP has an address")
  const host = address.address === "0.0.0.0" ? "127.0.0.1" : address.address === "::" ? "::1" : address.address
  return { host, port: address.port }
}
