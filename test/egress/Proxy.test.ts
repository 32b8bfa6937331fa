import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { type ProxyOptions, proxyChoice } from "../../src/egress/Proxy.ts"

const url = Redacted.make("http://proxy.test:3128")

/** Whether a connection goes through the proxy. */
const isProxied = (options: ProxyOptions, target: string): boolean | undefined => {
  const { hostname, port, protocol } = new URL(target)
  const choice = proxyChoice(options)
  return (
    choice?.({
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port) || (protocol === "https:" ? 443 : 80)
    }) !== undefined
  )
}

describe("proxies", () => {
  it("there is none where none is set", () => {
    expect(proxyChoice({})).toBeUndefined()
    expect(proxyChoice({ https: null, http: null, noProxy: "acme.test" })).toBeUndefined()
  })

  it.each([
    [{ https: url }, "https://api.acme.test", true],
    [{ https: url }, "http://api.acme.test", false],
    [{ http: url }, "https://api.acme.test", false],
    [{ http: url }, "http://api.acme.test", true]
  ])("each scheme has its own: %#", (options, target, expected) => {
    expect(isProxied(options, target)).toBe(expected)
  })

  it("the user and the password of the URL are sent to the proxy, decoded", () => {
    const choice = proxyChoice({ https: Redacted.make("https://me%40work:p%3Aw@proxy.test") })
    expect(choice?.({ protocol: "https:", hostname: "api.acme.test", port: 443 })).toEqual({
      origin: "https://proxy.test",
      headers: { "proxy-authorization": `Basic ${Buffer.from("me@work:p:w").toString("base64")}` }
    })
  })

  it.each(["socks5://me:word@proxy.test:1080", "proxy.test:3128", "me:word@proxy.test", "http://me:word@"])(
    "%s is refused, and not repeated",
    (text) => {
      expect(() => proxyChoice({ https: Redacted.make(text) })).toThrowError(
        /^a proxy is given by a URL such as http:\/\/proxy\.example\.com:3128$/
      )
    }
  )

  it.each(["localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "[::1]"])("%s is always reached directly", (host) => {
    expect(isProxied({ http: url }, `http://${host}:8000/`)).toBe(false)
  })

  it.each([
    ["*", "https://api.acme.test", true],
    ["acme.test", "https://acme.test", true],
    ["acme.test", "https://API.acme.test.", true],
    [".acme.test", "https://api.acme.test", true],
    ["*.acme.test", "https://api.acme.test", true],
    ["acme.test", "https://notacme.test", false],
    ["api.acme.test", "https://acme.test", false],
    ["other.test, acme.test", "https://acme.test", true],
    ["other.test acme.test", "https://acme.test", true],
    ["acme.test:8443", "https://acme.test:8443", true],
    ["acme.test:8443", "https://acme.test", false],
    ["acme.test:443", "https://acme.test", true],
    ["10.1.2.3", "https://10.1.2.3", true],
    ["1.2.3", "https://10.1.2.3", false],
    ["2.3", "https://10.1.2.3", false],
    ["10.0.0.0/8", "https://10.1.2.3", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.0.0.0/99", "https://10.1.2.3", false],
    ["fd00::/8", "https://[fd12::1]", true],
    ["fd12::1", "https://[fd12::1]", true],
    ["[fd12::1]:8443", "https://[fd12::1]:8443", true],
    ["[fd12::1]:8443", "https://[fd12::1]", false],
    ["", "https://acme.test", false],
    [" , ", "https://acme.test", false]
  ])("NO_PROXY %j, %s: directly %s", (noProxy, target, isDirect) => {
    expect(isProxied({ https: url, noProxy }, target)).toBe(!isDirect)
  })
})
