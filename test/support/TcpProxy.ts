import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/**
 * pass: bytes go both ways. cut: connections break and none is accepted. stall: connections stay, but nothing moves. stallNew: nothing
 * moves on those that come from now on.
 */
export type ProxyMode = "pass" | "cut" | "stall" | "stallNew"

/** A loopback TCP proxy in front of a server that must not be touched itself. */
export interface TcpProxy {
  readonly port: number
  /** How many connections there have been. */
  readonly accepted: () => number
  readonly set: (mode: ProxyMode) => void
  /** Called with each piece of data that a client sends, before the server has it; one at a time. */
  readonly onSent: (listener: () => void) => void
  readonly stop: () => Promise<void>
}

export const startProxy = async (target: { readonly host: string; readonly port: number }): Promise<TcpProxy> => {
  let mode: ProxyMode = "pass"
  let accepted = 0
  let listener: () => void = () => {}
  const pairs = new Set<readonly [Socket, Socket]>()
  const held = new Set<readonly [Socket, Socket]>()

  const server = createServer((near) => {
    near.on("error", () => {})
    accepted += 1
    if (mode === "cut") {
      near.resetAndDestroy()
      return
    }
    const far = connect(target.port, target.host)
    far.on("error", () => {})
    near.on("data", () => listener())
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      from.pipe(to)
      from.on("close", () => {
        to.destroy()
        pairs.delete(pair)
        held.delete(pair)
      })
    }
    if (mode === "stall" || mode === "stallNew") hold(pair)
  })
  const hold = (pair: readonly [Socket, Socket]): void => {
    const [near, far] = pair
    held.add(pair)
    near.unpipe(far)
    far.unpipe(near)
    near.pause()
    far.pause()
  }
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    set: (next) => {
      mode = next
      for (const pair of pairs) {
        const [near, far] = pair
        if (next === "cut") near.resetAndDestroy()
        else if (next === "stall" && !held.has(pair)) hold(pair)
        else if (next === "pass" && held.delete(pair)) {
          near.pipe(far)
          far.pipe(near)
        }
      }
    },
    onSent: (next) => {
      listener = next
    },
    stop: async () => {
      for (const [near] of pairs) near.destroy()
      server.close()
      await once(server, "close")
    }
  }
}
