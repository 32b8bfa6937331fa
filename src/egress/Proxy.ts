import { BlockList, isIP } from "node:net"
import * as Redacted from "effect/Redacted"
import { isLoopbackAddress } from "./PublicAddress.ts"

/** The HTTP proxies through which requests leave. This host is always reached without one. */
export interface ProxyOptions {
  /** For https origins: a URL of the form `http://user:password@host:port`, or with `https`; unset or `null`: none. */
  readonly https?: Redacted.Redacted | null
  /** For http origins, in the same form. */
  readonly http?: Redacted.Redacted | null
  /**
   * What is reached without a proxy, separated by commas or spaces: names, which include their subdomains, addresses, and networks such
   * as `10.0.0.0/8`; names and addresses with a port for that port alone; `*` is everything.
   */
  readonly noProxy?: string | null
}

/** One proxy server. */
export interface ProxyServer {
  readonly origin: string
  /** Sent to the proxy with each CONNECT. */
  readonly headers: Readonly<Record<string, string>>
}

/** Where a connection leads to; `hostname` is without the brackets of an IPv6 address. */
export interface Destination {
  readonly protocol: string
  readonly hostname: string
  readonly port: number
}

/** Returns the proxy for a connection; `undefined`: it is made directly. */
export type ProxyChoice = (to: Destination) => ProxyServer | undefined

/** `undefined` where no proxy is set at all. Throws where one has another form than `ProxyOptions` tells. */
export const proxyChoice = ({ http, https, noProxy }: ProxyOptions): ProxyChoice | undefined => {
  const [forHttps, forHttp] = [serverOf(https), serverOf(http)]
  if (forHttps === undefined && forHttp === undefined) return undefined
  const isExcepted = exceptionsOf(noProxy ?? "")
  return (to) => {
    if (isThisHost(to.hostname) || isExcepted(to)) return undefined
    return to.protocol === "https:" ? forHttps : forHttp
  }
}

const serverOf = (given: Redacted.Redacted | null | undefined): ProxyServer | undefined => {
  if (given === null || given === undefined) return undefined
  const text = Redacted.value(given)
  // it may hold a password, which an error of URL would repeat
  if (!isProxyUrl(text)) throw new Error("a proxy is given by a URL such as http://proxy.example.com:3128")
  const { origin, password, username } = new URL(text)
  if (username === "" && password === "") return { origin, headers: {} }
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { origin, headers: { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` } }
}

/** Whether it has the form that `ProxyOptions` tells. */
export const isProxyUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hash, password, pathname, protocol, search, username } = new URL(text)
  return (
    (protocol === "http:" || protocol === "https:") &&
    (pathname === "/" || pathname === "") &&
    search === "" &&
    hash === "" &&
    isDecodable(username) &&
    isDecodable(password)
  )
}

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const isThisHost = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || isLoopbackAddress(host)

const exceptionsOf = (text: string): ((to: Destination) => boolean) => {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "")
  if (entries.includes("*")) return () => true
  const networks = new BlockList()
  const hosts: Array<Exception> = []
  for (const entry of entries) {
    if (!addNetwork(networks, entry)) hosts.push(exceptionOf(entry))
  }
  return ({ hostname, port }) => {
    const host = hostname.toLowerCase().replace(/\.$/, "")
    const family = isIP(host)
    if (family !== 0 && networks.check(host, family === 4 ? "ipv4" : "ipv6")) return true
    return hosts.some(
      (one) =>
        (one.port === undefined || one.port === port) &&
        (host === one.host || (family === 0 && host.endsWith(`.${one.host}`)))
    )
  }
}

interface Exception {
  readonly host: string
  readonly port?: number
}

/** Whether the entry is a network, which is then added. */
const addNetwork = (networks: BlockList, entry: string): boolean => {
  const [, address = "", bits = ""] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? []
  const family = isIP(address)
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return false
  networks.addSubnet(address, Number(bits), family === 4 ? "ipv4" : "ipv6")
  return true
}

const exceptionOf = (entry: string): Exception => {
  const [, name, port] = (isIP(entry) === 6 ? null : /^(.+):(\d{1,5})$/.exec(entry)) ?? [entry, entry]
  const host = name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/^\*?\./, "")
  return port === undefined ? { host } : { host, port: Number(port) }
}
