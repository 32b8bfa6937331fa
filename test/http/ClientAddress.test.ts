import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { networkOf } from "../../src/domain/IpNetwork.ts"
import { ClientAddress } from "../../src/http/ClientAddress.ts"

const addressOf = (trusted: ReadonlyArray<string>, remoteAddress: string, forwarded?: string): string => {
  const { of } = Effect.runSync(
    Effect.provide(ClientAddress, ClientAddress.layer(trusted.flatMap((text) => networkOf(text) ?? [])))
  )
  const headers: IncomingMessage["headers"] = forwarded === undefined ? {} : { "x-forwarded-for": forwarded }
  return of({ headers, socket: { remoteAddress } as IncomingMessage["socket"] })
}

const balancer = "10.0.0.9"
const client = "198.51.100.7"
const proxies = ["10.0.0.0/8", "2001:db8::/32"]

describe("the address of a client", () => {
  it("is that of the connection where no proxy is trusted, whatever the header says", () => {
    expect(addressOf([], client)).toBe(client)
    expect(addressOf([], client, "192.0.2.1")).toBe(client)
    expect(addressOf([], `::ffff:${client}`)).toBe(client)
  })

  it("is that of the connection where another host than a proxy connects", () => {
    expect(addressOf(proxies, client, "192.0.2.1")).toBe(client)
    expect(addressOf(proxies, client, balancer)).toBe(client)
  })

  it("is the one that the proxy has appended, and none that the client has sent before", () => {
    expect(addressOf(proxies, balancer, client)).toBe(client)
    expect(addressOf(proxies, balancer, `192.0.2.1, ${client}`)).toBe(client)
    expect(addressOf(proxies, balancer, `${balancer}, 192.0.2.1, ${client}`)).toBe(client)
    expect(addressOf(proxies, `::ffff:${balancer}`, client)).toBe(client)
    expect(addressOf(proxies, "2001:db8::9", client)).toBe(client)
  })

  it("is the first from the right that is no proxy's, through several of them", () => {
    expect(addressOf(proxies, balancer, `192.0.2.1, ${client}, 10.0.0.8,::ffff:10.0.0.7 ,2001:db8::5`)).toBe(client)
  })

  it("is the outermost proxy's where nobody stands before the proxies", () => {
    expect(addressOf(proxies, balancer, "10.0.0.8,10.0.0.7")).toBe("10.0.0.8")
    expect(addressOf(proxies, balancer)).toBe(balancer)
    expect(addressOf(proxies, balancer, "")).toBe(balancer)
  })

  it.each(["unknown", "_secret", "198.51.100.7.example.com", "", "fe80::1%eth0", "198.51.100.256"])(
    "is the last one before an entry that is none: %s",
    (entry) => {
      expect(addressOf(proxies, balancer, `${client}, ${entry}, 10.0.0.8`)).toBe("10.0.0.8")
      expect(addressOf(proxies, balancer, `${client}, ${entry}`)).toBe(balancer)
    }
  )

  it("has one spelling, and no port", () => {
    expect(addressOf(proxies, balancer, `${client}:4711`)).toBe(client)
    expect(addressOf(proxies, balancer, "[2001:DB9::0001]:4711")).toBe("2001:db9::1")
    expect(addressOf(proxies, balancer, "[2001:DB9::0001]")).toBe("2001:db9::1")
    expect(addressOf(proxies, balancer, "2001:DB9::0001")).toBe("2001:db9::1")
    expect(addressOf(proxies, balancer, `::ffff:${client}`)).toBe(client)
  })
})
