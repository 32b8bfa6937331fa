import { once } from "node:events"
import type { AddressInfo, Server } from "node:net"
import { createServer } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { afterEach, describe, expect, it } from "vitest"
import { Timers } from "../../../src/domain/Timers.ts"
import type { ProxyOptions } from "../../../src/egress/Proxy.ts"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { compatible } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import * as Auth from "../../../src/provider/transport/Auth.ts"
import * as Endpoint from "../../../src/provider/transport/Endpoint.ts"
import * as HttpProvider from "../../../src/provider/transport/HttpProvider.ts"
import { Transport } from "../../../src/provider/transport/Transport.ts"
import { certificate, privateKey } from "../../support/Certificate.ts"
import * as HttpProxy from "../../support/HttpProxy.ts"
import { turns } from "../../support/Turns.ts"
import * as Upstream from "../../support/Upstream.ts"
import { call, model, open, saying } from "../protocols/calls.ts"

const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const proxyTo = async (options: HttpProxy.HttpProxyOptions): Promise<HttpProxy.HttpProxy> => {
  const proxy = await HttpProxy.start(options)
  closing.push(proxy.stop)
  return proxy
}

const upstream = async () => {
  const started = await Upstream.start()
  closing.push(started.stop)
  return { ...started, port: Number(new URL(started.origin).port) }
}

const listening = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  closing.push(async () => server.close())
  return (server.address() as AddressInfo).port
}

/** Returns a function that calls the model at a base URL through the proxies, and resolves when the call is over. */
const caller = async (proxy: ProxyOptions) => {
  const scope = await Effect.runPromise(Scope.make())
  closing.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const [transport, timers] = await Effect.all([Transport, Timers]).pipe(
    Effect.provide(
      await Effect.runPromise(
        Layer.buildWithScope(Layer.merge(Transport.layer({ connectMillis: 300, proxy }), Timers.layer), scope)
      )
    ),
    Effect.runPromise
  )
  return async (baseUrl: string, upstreamModel = "ok") => {
    const provider = HttpProvider.make({
      id: "acme",
      protocol: OpenAiChat.make(compatible),
      endpoint: Endpoint.of(baseUrl),
      auth: Auth.none,
      transport,
      timers,
      reportDefect: () => {}
    })
    const { recorder } = open(
      provider,
      call({ stream: true, messages: saying("hi") }, { model: model({ upstreamModel }) })
    )
    await recorder.over
    return { text: recorder.text, outcome: recorder.outcome, reason: recorder.errors[0]?.reason }
  }
}

const http = (proxy: HttpProxy.HttpProxy): ProxyOptions => ({ http: Redacted.make(proxy.url) })

describe("a transport with a proxy", () => {
  it("asks it for the host, sends what it wants to know of the user, and keeps the tunnel for further calls", async () => {
    const { port, requests } = await upstream()
    const proxy = await proxyTo({ port })
    const answer = await caller({ http: Redacted.make(proxy.url.replace("//", "//me:word@")) })
    for (let count = 0; count < 3; count++) {
      expect(await answer("http://api.acme.test/v1")).toMatchObject({ text: "Hello from upstream", outcome: "ended" })
      await turns()
    }
    expect(proxy.tunnels).toEqual([
      { authority: "api.acme.test:80", authorization: `Basic ${Buffer.from("me:word").toString("base64")}` }
    ])
    expect(requests.map(({ headers, path }) => [path, headers.host, headers["proxy-authorization"]])).toEqual(
      Array.from({ length: 3 }, () => ["/v1/chat/completions", "api.acme.test", undefined])
    )
  })

  it("opens a tunnel for each call that runs at the same time", async () => {
    const { port, received, release } = await upstream()
    const proxy = await proxyTo({ port })
    const answer = await caller(http(proxy))
    const calls = Array.from({ length: 5 }, () => answer("http://api.acme.test/v1", "held"))
    await received(5)
    release()
    expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(Array(5).fill("ended"))
    expect(proxy.tunnels).toHaveLength(5)
  })

  it("reaches what NO_PROXY names, and this host, without it", async () => {
    const { origin, port } = await upstream()
    const proxy = await proxyTo({ port })
    const answer = await caller({ ...http(proxy), noProxy: "acme.test" })
    expect((await answer(`${origin}/v1`)).outcome).toBe("ended")
    expect((await answer("http://api.acme.test/v1")).reason).toEqual({ _tag: "Unreachable", detail: "dns" })
    expect(proxy.tunnels).toEqual([])
  })

  it("has TLS with the origin within the tunnel, whose certificate it checks", async () => {
    const names: Array<string> = []
    const port = await listening(
      createTlsServer({
        cert: certificate,
        key: privateKey,
        SNICallback: (name, done) => {
          names.push(name)
          done(null)
        }
      })
    )
    const proxy = await proxyTo({ port })
    const answer = await caller({ https: Redacted.make(proxy.url) })
    expect((await answer("https://api.acme.test/v1")).reason).toEqual({
      _tag: "Insecure",
      detail: "DEPTH_ZERO_SELF_SIGNED_CERT"
    })
    expect([proxy.tunnels.map(({ authority }) => authority), names]).toEqual([["api.acme.test:443"], ["api.acme.test"]])
  })

  it.each([
    [407, "proxy-authentication"],
    [403, "proxy-refused"],
    [502, "proxy-refused"]
  ] as const)("its status %i is the failure %s: nothing was sent", async (status, detail) => {
    const proxy = await proxyTo({ port: 1, status })
    expect((await (await caller(http(proxy)))("http://api.acme.test/v1")).reason).toEqual({
      _tag: "Unreachable",
      detail
    })
  })

  it("one that cannot be reached is told from an origin that cannot", async () => {
    const answer = await caller({ http: Redacted.make("http://127.0.0.1:1") })
    expect((await answer("http://api.acme.test/v1")).reason).toEqual({
      _tag: "Unreachable",
      detail: "proxy-unreachable"
    })
  })

  it("waits no longer for its answer, or for TLS within the tunnel, than for a connection", async () => {
    const mute = await proxyTo({ port: 1, status: null })
    expect((await (await caller(http(mute)))("http://api.acme.test/v1")).reason).toEqual({ _tag: "ConnectTimeout" })
    const open = await proxyTo({ port: await listening(createServer((socket) => socket.on("error", () => {}))) })
    const answer = await caller({ https: Redacted.make(open.url) })
    expect((await answer("https://api.acme.test/v1")).reason).toEqual({ _tag: "ConnectTimeout" })
  })

  it("takes the reset of a new tunnel as that of a new connection: the call may have been processed", async () => {
    const port = await listening(
      createServer((socket) => socket.on("error", () => {}).on("data", () => socket.resetAndDestroy()))
    )
    const proxy = await proxyTo({ port })
    const answer = await caller(http(proxy))
    expect((await answer("http://api.acme.test/v1")).reason).toEqual({ _tag: "Reset" })
  })
})
