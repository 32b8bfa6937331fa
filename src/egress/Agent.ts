import { isIP, type LookupFunction, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Agent, buildConnector, errors, Pool } from "undici"
import { type ProxyChoice, type ProxyOptions, type ProxyServer, proxyChoice } from "./Proxy.ts"

/** No tunnel through a proxy was had, so that nothing was sent to the origin. */
export class ProxyError extends Error {
  /** `proxy-authentication`: the proxy wants another user or password; `proxy-refused`: it has answered with another status. */
  readonly reason: "proxy-unreachable" | "proxy-authentication" | "proxy-refused"

  constructor(reason: ProxyError["reason"], options?: ErrorOptions) {
    super(reason, options)
    this.reason = reason
  }
}

export interface AgentOptions {
  /** Name lookup, TCP and TLS together; with a proxy, the tunnel through it and TLS within the tunnel each. */
  readonly connectMillis: number
  readonly proxy: ProxyOptions
  /** Resolves names in place of the system's resolver: a proxy is then asked for the address, not for the name. */
  readonly lookup?: LookupFunction
  /** Called with each new connection, before anything is sent on it. */
  readonly connected?: (socket: Socket) => void
  /** Of undici. */
  readonly pool?: Omit<Agent.Options, "connect">
}

/** Pools of connections, one for each origin, through the proxy that is set for it; destroyed with the scope. */
export const acquireAgent = (options: AgentOptions): Effect.Effect<Agent, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const tunnels = new Map<string, Pool>()
        return { agent: new Agent({ ...options.pool, connect: connectorOf(options, tunnels) }), tunnels }
      }),
      ({ agent, tunnels }) =>
        Effect.promise(() => Promise.all([agent.destroy(), ...[...tunnels.values()].map((pool) => pool.destroy())]))
    ),
    ({ agent }) => agent
  )

const connectorOf = (
  { connected = () => {}, connectMillis, lookup, proxy }: AgentOptions,
  tunnels: Map<string, Pool>
): buildConnector.connector => {
  const direct = buildConnector({ timeout: connectMillis, ...(lookup === undefined ? {} : { lookup }) })
  const choice = proxyChoice(proxy)
  const connect = choice === undefined ? direct : tunnelling({ choice, connectMillis, direct, lookup, tunnels })
  return (to, callback) =>
    connect(to, (...result) => {
      if (result[0] === null && result[1] !== null) connected(result[1])
      callback(...result)
    })
}

interface Tunnelling {
  readonly choice: ProxyChoice
  readonly connectMillis: number
  readonly direct: buildConnector.connector
  readonly lookup: LookupFunction | undefined
  readonly tunnels: Map<string, Pool>
}

/** undici's own `ProxyAgent` has no deadline for the proxy's answer, and takes no connector. */
const tunnelling =
  ({ choice, connectMillis, direct, lookup, tunnels }: Tunnelling): buildConnector.connector =>
  (to, callback) => {
    const port = Number(to.port) || defaultPort(to.protocol)
    const server = choice({ protocol: to.protocol, hostname: to.hostname, port })
    if (server === undefined) return direct(to, callback)
    const pool = tunnels.get(server.origin) ?? new Pool(server.origin, { connect: { timeout: connectMillis } })
    tunnels.set(server.origin, pool)
    addressOf(to.hostname, lookup)
      .then((host) => tunnelOf(pool, server, authorityOf(host, port), AbortSignal.timeout(connectMillis)))
      .then(
        (socket) => {
          if (to.protocol === "https:") direct({ ...to, httpSocket: socket }, callback)
          else callback(null, socket)
        },
        (error: Error) => callback(error, null)
      )
  }

const tunnelOf = async (
  pool: Pool,
  { headers }: ProxyServer,
  authority: string,
  signal: AbortSignal
): Promise<Socket> => {
  const answered = await pool
    .connect({ path: authority, headers: { ...headers, host: authority }, signal })
    .catch((cause: unknown) => {
      throw signal.aborted ? new errors.ConnectTimeoutError() : new ProxyError("proxy-unreachable", { cause })
    })
  const socket = answered.socket as Socket
  if (answered.statusCode === 200) return socket
  socket.on("error", () => {}).destroy()
  throw new ProxyError(answered.statusCode === 407 ? "proxy-authentication" : "proxy-refused")
}

const addressOf = (hostname: string, lookup: LookupFunction | undefined): Promise<string> =>
  lookup === undefined || isIP(hostname) !== 0
    ? Promise.resolve(hostname)
    : new Promise((resolve, reject) => {
        lookup(hostname, {}, (error, address) => {
          if (error === null && typeof address === "string") resolve(address)
          else reject(error)
        })
      })

const authorityOf = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

const defaultPort = (protocol: string): number => (protocol === "https:" ? 443 : 80)
