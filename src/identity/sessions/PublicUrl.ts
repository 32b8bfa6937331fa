import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export interface PublicUrlShape {
  /** The base of links to this service, without a slash at its end; `port` is the one that it listens on. */
  readonly at: (port: number) => string
}

/** Where browsers reach the service. */
export class PublicUrl extends Context.Tag("gateway/identity/PublicUrl")<PublicUrl, PublicUrlShape>() {
  /** `url` is PUBLIC_URL; without it links lead to the address that the service listens on. */
  static readonly layer = (url: string | null, host: string): Layer.Layer<PublicUrl> =>
    Layer.succeed(this, { at: (port) => url ?? listenUrl(host, port) })
}

/** As a client on this machine reaches it. */
export const listenUrl = (host: string, port: number): string => {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${withPort(reachable, port)}`
}

/** An IPv6 address in brackets: its colons would be taken for that before the port. */
export const withPort = (host: string, port: number): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

/** The code is in the fragment, which browsers send to nobody: no log and no `Referer` has it. */
export const signInUrl = (publicUrl: string, code: string): string => `${publicUrl}/dashboard/sign-in#code=${code}`
