import type { IncomingMessage } from "node:http"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { addressOf, type IpNetwork, isWithinNetworks, unmapped } from "../domain/IpNetwork.ts"

type Incoming = Pick<IncomingMessage, "headers" | "socket">

export interface ClientAddressShape {
  /** By it failures are counted; sessions, the audit log and lines of the log have it. */
  readonly of: (request: Incoming) => string
}

/** The address of a client, which is not the one that connects where a proxy is between. */
export class ClientAddress extends Context.Tag("gateway/http/ClientAddress")<ClientAddress, ClientAddressShape>() {
  /** Without proxies the header is never read: anybody can send it. */
  static readonly layer = (trustedProxies: ReadonlyArray<IpNetwork>): Layer.Layer<ClientAddress> =>
    Layer.succeed(this, { of: trustedProxies.length === 0 ? peerOf : behind(isWithinNetworks(trustedProxies)) })
}

const peerOf = ({ socket }: Pick<Incoming, "socket">): string => unmapped(socket.remoteAddress ?? "")

/**
 * A proxy appends the address that has connected to it; what stands before that may be of the client. Hence from the right, as long as
 * the address is that of a proxy, and up to an entry that is no address.
 */
const behind =
  (isProxy: (address: string) => boolean): ClientAddressShape["of"] =>
  (request) => {
    let client = peerOf(request)
    // node joins several lines of it, in order
    const forwarded = String(request.headers["x-forwarded-for"] ?? "")
    for (let end = forwarded.length; end > 0 && isProxy(client); ) {
      const comma = forwarded.lastIndexOf(",", end - 1)
      const before = addressOf(withoutPort(forwarded.slice(comma + 1, end).trim()))
      if (before === undefined) return client
      client = before
      end = comma
    }
    return client
  }

/** Some proxies append the port, which puts an IPv6 address in brackets. */
const withoutPort = (entry: string): string => {
  const [, v4, v6] = /^(?:([\d.]+)|\[([^\]]*)\])(?::\d{1,5})?$/.exec(entry) ?? []
  return v4 ?? v6 ?? entry
}
