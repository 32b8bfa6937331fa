import { lookup } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Agent } from "undici"
import { acquireAgent } from "./Agent.ts"
import type { ProxyOptions } from "./Proxy.ts"
import { isLoopbackAddress, isPublicAddress } from "./PublicAddress.ts"

export interface EgressOptions {
  /** Also this host, and over http there: for tests. */
  readonly allowLoopback?: boolean
  /** Resolves names, in place of the system's resolver. */
  readonly resolve?: Resolve
  readonly proxy?: ProxyOptions
}

/** As `dns.lookup` with `all`. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: ReadonlyArray<ResolvedAddress>) => void
) => void

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export interface EgressRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Why nothing can be sent to a URL. */
export class EgressRefused extends Data.TaggedError("EgressRefused")<{ readonly reason: string }> {}

/** `forbidden_address`: the name resolves to an address that is not public. */
export class EgressFailed extends Data.TaggedError("EgressFailed")<{
  readonly reason: "invalid_url" | "forbidden_address" | "unresolved" | "unreachable" | "timeout"
}> {}

export interface EgressShape {
  /** What can be known of the URL without a look at the network. */
  readonly check: (url: string) => Effect.Effect<void, EgressRefused>
  /** Returns the status of the response, which is otherwise not read; redirects are not followed. */
  readonly post: (request: EgressRequest) => Effect.Effect<number, EgressFailed>
}

/**
 * Requests to URLs that users have entered. Only https, only to public addresses; the address that was checked is the one that
 * is connected to, so that a name cannot resolve to another one in between, and that a proxy is asked for.
 */
export class Egress extends Context.Tag("gateway/egress/Egress")<Egress, EgressShape>() {
  static readonly layer = (options: EgressOptions = {}): Layer.Layer<Egress> =>
    Layer.scoped(
      this,
      Effect.map(
        acquireAgent({
          connectMillis: Duration.toMillis(timeout),
          lookup: guardedLookup(options),
          proxy: options.proxy ?? {}
        }),
        (agent) => make(agent, options)
      )
    )
}

/** For name lookup, connection and response together. */
const timeout = Duration.seconds(5)

const make = (agent: Agent, { allowLoopback = false }: EgressOptions): EgressShape => {
  const refusalOf = (text: string): string | undefined => {
    if (!URL.canParse(text)) return "it is not a URL"
    const url = new URL(text)
    const host = hostOf(url)
    const isLoopback = allowLoopback && isLoopbackAddress(host)
    if (url.protocol !== "https:" && !(isLoopback && url.protocol === "http:")) return "only https is allowed"
    if (url.username !== "" || url.password !== "") return "it contains a user name or password"
    if (isIP(host) !== 0 && !isLoopback && !isPublicAddress(host)) return "its address is not public"
    if (host === "localhost" || host.endsWith(".localhost")) return "its address is not public"
    return undefined
  }
  return {
    check: (url) =>
      Effect.suspend(() => {
        const reason = refusalOf(url)
        return reason === undefined ? Effect.void : new EgressRefused({ reason })
      }),
    post: ({ body, headers, url }) =>
      refusalOf(url) !== undefined
        ? new EgressFailed({ reason: "invalid_url" })
        : Effect.tryPromise({
            try: async (signal) => {
              const { origin, pathname, search } = new URL(url)
              const response = await agent.request({
                origin,
                path: `${pathname}${search}`,
                method: "POST",
                headers,
                body,
                signal,
                reset: true
              })
              // the body of a stranger's response has no use, and no known length
              response.body.on("error", () => {}).destroy()
              return response.statusCode
            },
            catch: failureOf
          }).pipe(Effect.timeoutFail({ duration: timeout, onTimeout: () => new EgressFailed({ reason: "timeout" }) }))
  }
}

/** Without the brackets of an IPv6 address, and without the dot of the root. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")

const guardedLookup = ({ allowLoopback = false, resolve = systemResolve }: EgressOptions): LookupFunction => {
  const isAllowed = ({ address }: ResolvedAddress): boolean =>
    isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address))
  return (host, { all }, callback) =>
    resolve(host, (error, addresses) => {
      const [first] = addresses
      if (error !== null || first === undefined) return callback(new Unresolved(), [])
      // one that is not public is enough: the name is not to be trusted
      if (!addresses.every(isAllowed)) return callback(new Forbidden(), [])
      return all === true ? callback(null, [...addresses]) : callback(null, first.address, first.family)
    })
}

const systemResolve: Resolve = (host, done) => lookup(host, { all: true }, (error, found) => done(error, found ?? []))

class Unresolved extends Error {}
class Forbidden extends Error {}

const failureOf = (error: unknown): EgressFailed => {
  if (error instanceof Forbidden) return new EgressFailed({ reason: "forbidden_address" })
  if (error instanceof Unresolved) return new EgressFailed({ reason: "unresolved" })
  const isTimeout = error instanceof Error && "code" in error && error.code === "UND_ERR_CONNECT_TIMEOUT"
  return new EgressFailed({ reason: isTimeout ? "timeout" : "unreachable" })
}
