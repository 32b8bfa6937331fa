import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { createServer, type Server, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { Timers, type TimersShape } from "../../../src/domain/Timers.ts"
import type { Provider } from "../../../src/provider/Provider.ts"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { compatible } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import * as Auth from "../../../src/provider/transport/Auth.ts"
import * as Endpoint from "../../../src/provider/transport/Endpoint.ts"
import * as HttpProvider from "../../../src/provider/transport/HttpProvider.ts"
import { Transport, type TransportShape } from "../../../src/provider/transport/Transport.ts"
import { timerTurns, turns } from "../../support/Turns.ts"
import * as Upstream from "../../support/Upstream.ts"
import { call, model, open, saying } from "../protocols/calls.ts"

let scope: Scope.CloseableScope
let transport: TransportShape
let timers: TimersShape
const servers: Array<Server> = []
const upstreams: Array<Upstream.Upstream> = []

beforeAll(async () => {
  scope = await Effect.runPromise(Scope.make())
  const live = Layer.merge(Transport.layer({ connectMillis: 300 }), Timers.layer)
  const services = Effect.all([Transport, Timers]).pipe(
    Effect.provide(await Effect.runPromise(Layer.buildWithScope(live, scope)))
  )
  ;[transport, timers] = await Effect.runPromise(services)
})
afterEach(async () => {
  for (const upstream of upstreams.splice(0)) await upstream.stop()
  for (const server of servers.splice(0)) server.close()
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const upstreamOf = async (handler?: Upstream.Handler): Promise<Upstream.Upstream> => {
  const upstream = await Upstream.start(handler)
  upstreams.push(upstream)
  return upstream
}

const providerAt = (baseUrl: string, auth: Auth.Auth = Auth.none): Provider =>
  HttpProvider.make({
    id: "acme",
    protocol: OpenAiChat.make(compatible),
    endpoint: Endpoint.of(baseUrl),
    auth,
    transport,
    timers,
    reportDefect: () => {}
  })

/** A TCP server that treats each connection as told. */
const tcp = async (onConnection: (socket: Socket) => void): Promise<number> => {
  const server = createServer((socket) => {
    socket.on("error", () => {})
    onConnection(socket)
  })
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

const calling = (upstreamModel: string, stream = true) =>
  call({ stream, messages: saying("hi") }, { model: model({ upstreamModel }) })

const run = async (provider: Provider, upstreamModel: string, stream = true) => {
  const { recorder, upstream } = open(provider, calling(upstreamModel, stream))
  await recorder.over
  return { recorder, upstream }
}

describe("whether a call that is closed may be billed", () => {
  /** Closes the call when its receiver has heard this often from the upstream. */
  const closedAfter = async (
    provider: Provider,
    upstreamModel: string,
    activities: number,
    ready: Promise<unknown>
  ) => {
    const { recorder, upstream } = open(provider, calling(upstreamModel))
    await ready
    await recorder.until((heard) => heard.activities >= activities)
    upstream.close()
    return upstream.mayBill?.()
  }

  it("not while its connection is made: no byte of it was sent", async () => {
    let connected = () => {}
    const hello = new Promise<void>((resolve) => (connected = resolve))
    const port = await tcp((socket) => socket.on("data", () => connected()))
    expect(await closedAfter(providerAt(`https://127.0.0.1:${port}/v1`), "ok", 0, hello)).toBe(false)
  })

  it("once it was sent, also while its response comes, but not once it was refused", async () => {
    const upstream = await upstreamOf()
    const provider = providerAt(upstream.baseUrl)
    expect(await closedAfter(provider, "hang-head", 0, upstream.received(1))).toBe(true)
    expect(await closedAfter(provider, "hang-content", 1, upstream.received(2))).toBe(true)
    expect(await closedAfter(provider, "hang-rate-limited", 1, upstream.received(3))).toBe(false)
  })

  it("not where it is closed before a large body is sent", () => {
    const { upstream } = open(
      providerAt("http://127.0.0.1:9/v1"),
      call({ messages: saying("x".repeat(2_000_000)) }, { model: model({ upstreamModel: "ok" }) })
    )
    upstream.close()
    expect(upstream.mayBill?.()).toBe(false)
  })
})

describe("what an upstream does and what the receiver hears", () => {
  for (const stream of [true, false]) {
    it(`an answer comes whole, stream ${stream}`, async () => {
      const upstream = await upstreamOf()
      const { recorder } = await run(providerAt(upstream.baseUrl), "ok", stream)
      expect(recorder.text).toBe("Hello from upstream")
      expect(recorder.events.map((event) => event._tag)).toEqual(
        stream
          ? ["ResponseInfo", "Text", "Text", "Text", "Finish", "Usage"]
          : ["ResponseInfo", "Text", "Finish", "Usage"]
      )
      expect(recorder.outcome).toBe("ended")
      expect(recorder.activities).toBeGreaterThan(0)
    })
  }

  const table: ReadonlyArray<readonly [string, string, string]> = [
    ["no-done", "ended", "ended"],
    ["rate-limited", "RateLimited", "RateLimited"],
    ["no-quota", "QuotaExhausted", "QuotaExhausted"],
    ["refuse", "ContentPolicy", "ContentPolicy"],
    ["too-long", "ContextLengthExceeded", "ContextLengthExceeded"],
    ["redirect", "Redirected", "Redirected"],
    ["html", "BadResponse", "BadResponse"],
    ["error-200", "Overloaded", "Overloaded"],
    ["error-first", "ServerError", "ServerError"],
    ["error-mid", "ServerError", "ServerError"],
    ["reset", "Reset", "Reset"],
    ["cut-before", "Disconnected", "Disconnected"],
    ["cut-mid", "Disconnected", "Disconnected"],
    ["end-mid", "Disconnected", "Disconnected"],
    ["malformed", "BadResponse", "BadResponse"],
    ["malformed-mid", "BadResponse", "BadResponse"],
    ["status-400", "RequestRejected", "RequestRejected"],
    ["status-401", "CredentialRejected", "CredentialRejected"],
    ["status-402", "QuotaExhausted", "QuotaExhausted"],
    ["status-403", "CredentialRejected", "CredentialRejected"],
    ["status-404", "ModelGone", "ModelGone"],
    ["status-413", "ContextLengthExceeded", "ContextLengthExceeded"],
    ["status-500", "ServerError", "ServerError"],
    ["status-502", "ServerError", "ServerError"],
    ["status-503", "Overloaded", "Overloaded"],
    ["status-529", "Overloaded", "Overloaded"]
  ]
  it("each fault has its name, and each call exactly one ending", async () => {
    const upstream = await upstreamOf()
    const provider = providerAt(upstream.baseUrl)
    for (const [name, streamed, plain] of table) {
      for (const [stream, expected] of [
        [true, streamed],
        [false, plain]
      ] as const) {
        const { recorder } = await run(provider, name, stream)
        expect([name, stream, recorder.outcome]).toEqual([name, stream, expected])
        expect(recorder.ended + recorder.errors.length).toBe(1)
      }
    }
  })

  it("the partial text of a cut answer comes before its failure", async () => {
    const upstream = await upstreamOf()
    const { recorder } = await run(providerAt(upstream.baseUrl), "cut-mid")
    expect([recorder.text, recorder.outcome]).toEqual(["partial", "Disconnected"])
  })

  it("Retry-After reaches the error", async () => {
    const upstream = await upstreamOf()
    const { recorder } = await run(providerAt(upstream.baseUrl), "rate-limited")
    expect(recorder.errors[0]?.retryAfterMillis).toBe(7000)
  })
})

describe("connections", () => {
  it("a refused connection, an unknown host, a mute handshake and plain text in place of TLS are told apart", async () => {
    const mute = await tcp(() => {})
    const plain = await tcp((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
    const outcomes = await Promise.all(
      [
        "http://127.0.0.1:1/v1",
        "http://nowhere.invalid/v1",
        `https://127.0.0.1:${mute}/v1`,
        `https://127.0.0.1:${plain}/v1`
      ].map(async (baseUrl) => (await run(providerAt(baseUrl), "ok")).recorder.errors[0]?.reason)
    )
    expect(outcomes).toEqual([
      { _tag: "Unreachable", detail: "refused" },
      { _tag: "Unreachable", detail: "dns" },
      { _tag: "ConnectTimeout" },
      { _tag: "Insecure", detail: expect.stringMatching(/^(?:EPROTO|ERR_SSL_\w+)$/) }
    ])
  })

  it("only the reset of a connection that had answered before proves that nothing was processed", async () => {
    const body = JSON.stringify({ choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop" }] })
    const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const port = await tcp((socket) => {
      let heads = 0
      socket.on("data", (bytes) => {
        if (!bytes.includes("POST")) return
        if (heads++ === 0) socket.write(answer)
        else socket.resetAndDestroy()
      })
    })
    const provider = providerAt(`http://127.0.0.1:${port}/v1`)
    expect((await run(provider, "ok", false)).recorder.outcome).toBe("ended")
    await turns()
    const second = await run(provider, "ok", false)
    expect(second.recorder.errors[0]?.reason).toEqual({ _tag: "Unreachable", detail: "reset-before-response" })
    expect(second.recorder.errors[0]?.facts.notProcessed).toBe(true)
    const fresh = await tcp((socket) => socket.on("data", () => socket.resetAndDestroy()))
    const first = await run(providerAt(`http://127.0.0.1:${fresh}/v1`), "ok", false)
    expect(first.recorder.errors[0]?.reason).toEqual({ _tag: "Reset" })
    expect(first.recorder.errors[0]?.facts.notProcessed).toBe(false)
  })

  for (const [name, when] of [
    ["hang-head", "before the head"],
    ["hang-content", "before content"],
    ["hang-mid", "in the middle"]
  ] as const) {
    it(`closing ${when} closes the upstream's socket at once and silences the receiver`, async () => {
      const upstream = await upstreamOf()
      const { recorder, upstream: attempt } = open(providerAt(upstream.baseUrl), calling(name))
      const received = await upstream.received(1)
      if (name !== "hang-head") await recorder.until((r) => r.activities > 1)
      const heard = [recorder.events.length, recorder.activities]
      attempt.close()
      attempt.close()
      expect(await timerTurns(received.closed)).toBeLessThan(100)
      expect(await received.closed).toBe("aborted")
      expect([recorder.events.length, recorder.activities]).toEqual(heard)
      expect(recorder.outcome).toBe("open")
    })
  }

  it("a call closed while it connects never reaches the upstream", async () => {
    const upstream = await upstreamOf()
    const provider = providerAt(upstream.baseUrl)
    open(provider, calling("hang-head")).upstream.close()
    const { recorder } = await run(provider, "ok")
    expect(recorder.outcome).toBe("ended")
    expect(upstream.requests.map((received) => received.model)).toEqual(["ok"])
  })

  it("a finished answer leaves its connection to the next call, also when it is closed in between", async () => {
    const upstream = await upstreamOf()
    const provider = providerAt(upstream.baseUrl)
    for (let n = 0; n < 5; n++) {
      const { upstream: attempt } = await run(provider, "ok", n % 2 === 0)
      attempt.close()
      await (await upstream.received(n + 1)).closed
      await turns()
    }
    expect(upstream.connections()).toBe(1)
  })

  it("a paused stream stops its upstream, and goes on where it was", async () => {
    const upstream = await upstreamOf()
    const { recorder, upstream: attempt } = open(providerAt(upstream.baseUrl), calling("endless"))
    await recorder.until((r) => r.events.length > 10)
    attempt.pause()
    let held = -1
    while (held !== recorder.events.length) {
      held = recorder.events.length
      await turns()
    }
    attempt.resume()
    await recorder.until((r) => r.events.length > held)
    attempt.close()
    expect(await (await upstream.received(1)).closed).toBe("aborted")
  })
})

describe("a server that resets every connection that is used again", () => {
  it("is soon called on a new connection each time", async () => {
    const body = JSON.stringify({ choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop" }] })
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    const port = await tcp((socket) => {
      let served = 0
      socket.on("data", () => (served++ === 0 ? socket.write(head + body) : socket.resetAndDestroy()))
    })
    const provider = providerAt(`http://127.0.0.1:${port}/v1`)
    const outcomes: Array<string> = []
    for (let n = 0; n < 40; n++) outcomes.push((await run(provider, "ok", false)).recorder.outcome ?? "")
    expect(outcomes.filter((outcome) => outcome === "ended").length).toBeGreaterThanOrEqual(36)
    expect(outcomes.slice(-30)).toEqual(Array.from({ length: 30 }, () => "ended"))
  })
})

describe("a server that resets a connection now and then", () => {
  it("is called on connections that are used again, however often that has happened", async () => {
    const body = JSON.stringify({ choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop" }] })
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    let connections = 0
    const port = await tcp((socket) => {
      connections++
      let served = 0
      socket.on("data", () => (served++ < 4 ? socket.write(head + body) : socket.resetAndDestroy()))
    })
    const provider = providerAt(`http://127.0.0.1:${port}/v1`)
    for (let n = 0; n < 40; n++) {
      await run(provider, "ok", false)
      await turns()
    }
    expect(connections).toBe(8)
  })
})

describe("bounds", () => {
  it("a byte order mark before a non-streaming response is none of it", async () => {
    const upstream = await upstreamOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        `\ufeff${JSON.stringify({ choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop" }] })}`
      )
    })
    expect((await run(providerAt(upstream.baseUrl), "ok", false)).recorder.text).toBe("a")
  })

  it("an error body without end is classified by its beginning", async () => {
    const upstream = await upstreamOf((_, response) => {
      response.writeHead(500, { "content-type": "application/json" })
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(10_000))) {}
      }
      response.on("drain", more)
      more()
    })
    const { recorder } = await run(providerAt(upstream.baseUrl), "ok")
    expect(recorder.errors[0]?.reason).toEqual({ _tag: "ServerError", status: 500 })
    expect(await (await upstream.received(1)).closed).toBe("aborted")
  })

  it("a non-streaming response beyond 32 MiB is too large, and its upstream is closed", async () => {
    const upstream = await upstreamOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      const piece = Buffer.alloc(1024 * 1024, 32)
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) {}
      }
      response.on("drain", more)
      more()
    })
    const { recorder } = await run(providerAt(upstream.baseUrl), "ok", false)
    expect(recorder.outcome).toBe("ResponseTooLarge")
    expect(await (await upstream.received(1)).closed).toBe("aborted")
  })

  it("a head beyond 64 KiB and an encoded answer are bad responses", async () => {
    const big = await upstreamOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "x-big": "x".repeat(70_000) }).end("{}")
    })
    const zipped = await upstreamOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("zzz")
    })
    expect((await run(providerAt(big.baseUrl), "ok")).recorder.outcome).toBe("BadResponse")
    expect((await run(providerAt(zipped.baseUrl), "ok")).recorder.outcome).toBe("BadResponse")
  })
})

describe("what goes up", () => {
  it("the base URL is joined, and only our own headers go with the body", async () => {
    const upstream = await upstreamOf()
    await run(providerAt(`${upstream.origin}/api/v1/`, Auth.bearer(Redacted.make("secret-key-123"))), "ok")
    const [received] = upstream.requests
    expect(received?.path).toBe("/api/v1/chat/completions")
    expect(Object.keys(received?.headers ?? {}).sort()).toEqual([
      "accept",
      "authorization",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent"
    ])
    expect(received?.headers.authorization).toBe("Bearer secret-key-123")
  })

  it("without a credential there is no Authorization", async () => {
    const upstream = await upstreamOf()
    await run(providerAt(upstream.baseUrl), "ok")
    expect(upstream.requests[0]?.headers.authorization).toBeUndefined()
  })

  it("a provider that repeats our credential cannot have it shown", async () => {
    const upstream = await upstreamOf((received, response) =>
      Upstream.error(response, 400, {
        message: `bad request, header was ${received.headers.authorization} at http://10.1.2.3/x`
      })
    )
    const { recorder } = await run(
      providerAt(upstream.baseUrl, Auth.bearer(Redacted.make("plainsecretwithoutdigits"))),
      "ok"
    )
    expect(JSON.stringify(recorder.errors[0]?.callError)).not.toMatch(/plainsecret|10\.1\.2\.3/)
  })

  it("not even in pieces, nor inside an answer that began as a success", async () => {
    const secret = "plainsecretwithoutdigits"
    const upstream = await upstreamOf((received, response) => {
      const message = `the key plainsecret without digits is plainsecretwit houtdigits`
      if (received.body?.["stream"] !== true) return Upstream.error(response, 400, { message })
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(`data: ${JSON.stringify({ error: { message, type: "invalid_request_error" } })}\n\n`)
    })
    for (const stream of [true, false]) {
      const { recorder } = await run(providerAt(upstream.baseUrl, Auth.bearer(Redacted.make(secret))), "ok", stream)
      expect(recorder.errors[0]?.reason._tag).toBe("RequestRejected")
      expect(JSON.stringify(recorder.errors[0]?.callError)).not.toMatch(/plainsecret/)
    }
  })

  it("nor as the model, the service tier or the fingerprint that it says it has", async () => {
    const told = {
      model: "canary 1234567890",
      service_tier: "canary1234567890",
      system_fingerprint: "canary1234567890"
    }
    const upstream = await upstreamOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({ ...told, choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop" }] })
      )
    })
    const { recorder } = await run(providerAt(upstream.baseUrl), "ok", false)
    expect(recorder.outcome).toBe("ended")
    expect(JSON.stringify(recorder.events)).not.toContain("canary")
  })
})
