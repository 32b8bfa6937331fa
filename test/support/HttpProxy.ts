import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"

/** What the proxy has been asked for. */
export interface Tunnel {
  /** As it stands in the request, such as `api.acme.test:443`. */
  readonly authority: string
  readonly authorization: string | undefined
}

/** An HTTP proxy on loopback that opens tunnels: to this host, whatever host it is asked for. */
export interface HttpProxy {
  readonly url: string
  readonly tunnels: ReadonlyArray<Tunnel>
  readonly stop: () => Promise<void>
}

export interface HttpProxyOptions {
  /** Where tunnels lead to on this host. */
  readonly port: number
  /** The status of every answer, 200 by default; `null`: none comes. */
  readonly status?: number | null
  /** Called with both ends of each tunnel. */
  readonly opened?: (near: Socket, far: Socket) => void
}

export const start = async ({ opened = () => {}, port, status = 200 }: HttpProxyOptions): Promise<HttpProxy> => {
  const tunnels: Array<Tunnel> = []
  const sockets = new Set<Socket>()
  const server = createServer((_, response) => response.writeHead(501).end())
  server.on("connect", (request, near: Socket) => {
    tunnels.push({ authority: request.url ?? "", authorization: request.headers["proxy-authorization"] })
    keep(near)
    if (status === null) return
    if (status !== 200) {
      near.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const far = connect(port, "127.0.0.1")
    keep(far)
    near.write("HTTP/1.1 200 Connection established\r\n\r\n")
    near.pipe(far).pipe(near)
    near.on("close", () => far.destroy())
    far.on("close", () => near.destroy())
    opened(near, far)
  })
  const keep = (socket: Socket) => {
    socket.on("error", () => {})
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  }
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    }
  }
}
