import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { Egress, type EgressOptions, type Resolve } from "../../src/egress/Egress.ts"
import { isPublicAddress } from "../../src/egress/PublicAddress.ts"
import * as HttpProxy from "../support/HttpProxy.ts"

const withEgress = <A, E>(options: EgressOptions, run: (egress: Egress["Type"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Egress, run), Egress.layer(options))

const receiver = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(answer).listen(0, "127.0.0.1")
      await once(server, "listening")
      return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

const request = (url: string) => ({ url, headers: { "content-type": "application/json" }, body: "{}" })

describe("egress", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.100.100.200",
    "127.0.0.1",
    "168.63.129.16",
    "169.254.169.254",
    "172.31.255.255",
    "192.168.0.1",
    "198.19.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "::ffff:127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "not an address"
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.effect.each([
    ["hooks.example.com", "not a URL"],
    ["http://hooks.example.com/", "only https"],
    ["http://127.0.0.1/", "only https"],
    ["ftp://hooks.example.com/", "only https"],
    ["https://user:pass@hooks.example.com/", "user name"],
    ["https://localhost/", "not public"],
    ["https://a.localhost./", "not public"],
    ["https://127.0.0.1/", "not public"],
    ["https://2130706433/", "not public"],
    ["https://0x7f.1/", "not public"],
    ["https://169.254.169.254/latest/meta-data", "not public"],
    ["https://[::1]/", "not public"],
    ["https://[::ffff:10.0.0.1]/", "not public"]
  ] as const)("refuses %s at once", ([url, reason]) =>
    withEgress({}, (egress) =>
      Effect.gen(function* () {
        expect((yield* Effect.flip(egress.check(url))).reason).toContain(reason)
        expect(yield* Effect.flip(egress.post(request(url)))).toMatchObject({ reason: "invalid_url" })
      })
    )
  )

  it.effect("accepts a public https URL, by name or address", () =>
    withEgress({}, (egress) =>
      Effect.all([egress.check("https://hooks.example.com:8443/a?b=c"), egress.check("https://8.8.8.8/")])
    )
  )

  it.scoped.each([[["127.0.0.1"]], [["8.8.8.8", "10.0.0.1"]], [["::1"]]] as const)(
    "does not connect to a name that resolves to %s",
    ([addresses]) =>
      Effect.gen(function* () {
        let connections = 0
        const { server, url } = yield* receiver(() => {})
        server.on("connection", () => connections++)
        const resolve: Resolve = (_, done) =>
          done(
            null,
            addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
          )
        const failure = yield* withEgress({ resolve }, (egress) =>
          Effect.flip(egress.post(request(`https://hooks.example.com:${new URL(url).port}/`)))
        )
        expect([failure.reason, connections]).toEqual(["forbidden_address", 0])
      })
  )

  it.scoped("connects to the address that was checked, which is resolved once", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const listening = createTcpServer().listen(0, "127.0.0.1")
          await once(listening, "listening")
          return listening
        }),
        (listening) => Effect.sync(() => void listening.close())
      )
      const connected = once(server, "connection").then(([socket]) => socket.destroy())
      const resolve: Resolve = (host, done) => {
        asked.push(host)
        done(null, [{ address: "127.0.0.1", family: 4 }])
      }
      const { port } = server.address() as AddressInfo
      const failure = yield* withEgress({ resolve, allowLoopback: true }, (egress) =>
        Effect.flip(egress.post(request(`https://hooks.example.com:${port}/`)))
      )
      yield* Effect.promise(() => connected)
      expect([failure.reason, asked]).toEqual(["unreachable", ["hooks.example.com"]])
    })
  )

  it.scoped("asks a proxy for the address that was checked, not for the name", () =>
    Effect.gen(function* () {
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => HttpProxy.start({ port: 1 })),
        ({ stop }) => Effect.promise(stop)
      )
      const options = { proxy: { https: Redacted.make(proxy.url) } }
      for (const [address, reason] of [
        ["8.8.8.8", "unreachable"],
        ["2606:4700::1111", "unreachable"],
        ["10.0.0.1", "forbidden_address"]
      ] as const) {
        const resolve: Resolve = (_, done) => done(null, [{ address, family: address.includes(":") ? 6 : 4 }])
        const failure = yield* withEgress({ ...options, resolve }, (egress) =>
          Effect.flip(egress.post(request("https://hooks.example.com/")))
        )
        expect([address, failure.reason]).toEqual([address, reason])
      }
      expect(proxy.tunnels.map(({ authority }) => authority)).toEqual(["8.8.8.8:443", "[2606:4700::1111]:443"])
    })
  )

  it.effect("a name that does not resolve is an error of its own", () =>
    withEgress({ resolve: (_, done) => done(new Error("ENOTFOUND"), []) }, (egress) =>
      Effect.map(Effect.flip(egress.post(request("https://hooks.example.com/"))), ({ reason }) =>
        expect(reason).toBe("unresolved")
      )
    )
  )

  it.scoped("returns the status, and follows no redirect", () =>
    Effect.gen(function* () {
      const seen: Array<IncomingMessage["url"]> = []
      const { url } = yield* receiver((incoming, response) => {
        seen.push(incoming.url)
        response.writeHead(307, { location: "/elsewhere" }).end("x".repeat(100_000))
      })
      const status = yield* withEgress({ allowLoopback: true }, (egress) => egress.post(request(`${url}/hook?a=b`)))
      expect([status, seen]).toEqual([307, ["/hook?a=b"]])
    })
  )

  it.scoped("gives up after 5 seconds without a response", () =>
    Effect.gen(function* () {
      let arrived = () => {}
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const { url } = yield* receiver(() => arrived())
      const failure = yield* withEgress({ allowLoopback: true }, (egress) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(Effect.flip(egress.post(request(url))))
          yield* Effect.promise(() => arrival)
          yield* TestClock.adjust("4999 millis")
          expect(fiber.unsafePoll()).toBeNull()
          yield* TestClock.adjust("1 millis")
          return yield* Fiber.join(fiber)
        })
      )
      expect(failure.reason).toBe("timeout")
    })
  )
})
