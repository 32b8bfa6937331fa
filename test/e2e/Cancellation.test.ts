import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TimersShape } from "../../src/domain/Timers.ts"
import { model } from "../provider/protocols/calls.ts"
import { percentile } from "../support/Figures.ts"
import { callerKey, type InProcess, type Settled, startInProcess } from "../support/InProcess.ts"
import { timerTurns } from "../support/Turns.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess

/** The real time, and how many of its deadlines wait. */
let waiting = 0
const timers: TimersShape = {
  now: () => performance.timeOrigin + performance.now(),
  after: (millis, run) => {
    waiting++
    const stop = () => {
      if (timer === undefined) return
      waiting--
      clearTimeout(timer)
      timer = undefined
    }
    let timer: NodeJS.Timeout | undefined = setTimeout(() => {
      stop()
      run()
    }, millis)
    return stop
  }
}

/** Takes connections and never answers in TLS. */
const mute = createServer((socket) => socket.on("error", () => {}))

const prices = { input: 1_000_000, output: 2_000_000, cacheRead: null, cacheWrite: null, tiers: [] }

beforeAll(async () => {
  upstream = await startUpstream()
  mute.listen(0, "127.0.0.1")
  await once(mute, "listening")
  const { port: mutePort } = mute.address() as AddressInfo
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl, free: upstream.baseUrl, mute: `https://127.0.0.1:${mutePort}/v1` },
    models: [
      ...["hang-head", "hang-content", "hang-mid", "hang-rate-limited", "held", "endless"].map((name) =>
        model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name, prices })
      ),
      model({
        id: "free/hang-head",
        providerId: "free",
        upstreamModel: "hang-head",
        alias: "free",
        prices,
        billsAbortedCalls: false
      }),
      model({ id: "mute/m", providerId: "mute", upstreamModel: "m", alias: "mute", prices })
    ],
    headHoldMillis: 200,
    timers
  })
})

afterAll(async () => {
  expect(await gateway.audit()).toEqual([])
  expect(await gateway.held()).toBe(0)
  expect(waiting).toBe(0)
  await gateway.stop()
  await upstream.stop()
  mute.close()
})

/** Calls, leaves when `leaving` says so, and tells what became of upstream and money. */
const leave = async (
  request: { readonly model: string; readonly stream: boolean },
  leaving: (answer: Promise<Response>) => Promise<void>,
  path = "/v1/chat/completions"
): Promise<{ readonly settled: Settled; readonly closeTurns: number }> => {
  const [received, settlements] = [upstream.requests.length, gateway.settlements.length]
  const client = new AbortController()
  const answer = gateway.post(path, undefined, {
    body: JSON.stringify({ ...request, max_tokens: 1_000, messages: [{ role: "user", content: "tell me a story" }] }),
    signal: client.signal
  })
  answer.catch(() => {})
  const call = await upstream.received(received + 1)
  await leaving(answer)
  client.abort()
  const closeTurns = await timerTurns(call.closed)
  expect(await call.closed).toBe("aborted")
  const settled = await gateway.settled(settlements + 1)
  expect(gateway.settlements.length).toBe(settlements + 1)
  return { settled, closeTurns }
}

/** What takes messages, in either format. */
const paths = ["/v1/chat/completions", "/v1/messages"]

const atOnce = async () => {}
const firstBytes = async (answer: Promise<Response>) => {
  await (await answer).body?.getReader().read()
}

const expectCancelled = ({ settled }: { readonly settled: Settled }) => {
  expect([settled.state, settled.record.status, settled.record.error]).toEqual(["cancelled", "cancelled", null])
  expect(settled.record.attempts.map((attempt) => attempt.status)).toEqual(["cancelled"])
  expect(settled.record.cost.amount_microusd).toBe(Math.min(settled.actual, settled.hold.amount))
  expect(settled.record.attempts[0]?.cost).toEqual(settled.record.cost)
}

describe("a client that leaves", () => {
  it.each([
    ["a stream before its head", { model: "one/hang-head", stream: true }, atOnce],
    ["a stream whose head was sent, before its content", { model: "one/hang-content", stream: true }, firstBytes],
    ["a plain call", { model: "one/held", stream: false }, atOnce]
  ])("%s closes the upstream at once and pays for its prompt, as an estimate", async (_, request, leaving) => {
    for (const path of paths) {
      const left = await leave(request, leaving, path)
      expectCancelled(left)
      expect(left.settled.record.cost.basis).toBe("estimated")
      expect(left.settled.record.usage).toMatchObject({ inputTokens: left.settled.actual, outputTokens: 0 })
      expect(left.settled.actual).toBeGreaterThan(0)
    }
  })

  it("pays nothing where the provider is documented not to charge for aborted calls", async () => {
    const left = await leave({ model: "free/hang-head", stream: true }, atOnce)
    expectCancelled(left)
    expect(left.settled.actual).toBe(0)
  })

  it("pays nothing while the provider is being connected to: no byte of the request was sent", async () => {
    for (const stream of [true, false]) {
      const settlements = gateway.settlements.length
      const client = new AbortController()
      const body = JSON.stringify({ model: "mute/m", stream, messages: [{ role: "user", content: "tell me a story" }] })
      const greeted = once(mute, "connection").then(([socket]) => once(socket, "data"))
      const answer = gateway.post("/v1/chat/completions", undefined, { body, signal: client.signal })
      answer.catch(() => {})
      await greeted
      client.abort()
      const settled = await gateway.settled(settlements + 1)
      expectCancelled({ settled })
      expect(settled.actual).toBe(0)
    }
  })

  it("pays nothing where the provider has refused the request, and its error is still read", async () => {
    // the client has the head of its stream after that of the provider has come
    const left = await leave({ model: "one/hang-rate-limited", stream: true }, async (answer) => {
      await answer
    })
    expectCancelled(left)
    expect(left.settled.actual).toBe(0)
  })

  it("with calls in a row on one connection starts none of those that wait", async () => {
    const [received, settlements] = [upstream.requests.length, gateway.settlements.length]
    const body = JSON.stringify({ model: "one/held", messages: [{ role: "user", content: "tell me a story" }] })
    const head = `authorization: Bearer ${callerKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n${body}`.repeat(3))
    const call = await upstream.received(received + 1)
    socket.destroy()
    expect(await call.closed).toBe("aborted")
    const settled = await gateway.settled(settlements + 1)
    expectCancelled({ settled })
    expect(upstream.requests.length).toBe(received + 1)
    expect(gateway.settlements.length).toBe(settlements + 1)
  })

  it("at its first content pays for the prompt and what was streamed, as an estimate", async () => {
    for (const path of paths) {
      const left = await leave({ model: "one/hang-mid", stream: true }, firstBytes, path)
      expectCancelled(left)
      expect(left.settled.record.cost.basis).toBe("estimated")
      const { usage } = left.settled.record
      // "partial" is seven bytes, two or three tokens
      expect(usage?.outputTokens).toBeGreaterThanOrEqual(1)
      expect(usage?.outputTokens).toBeLessThanOrEqual(7)
      expect(usage?.inputTokens).toBeGreaterThan(0)
      expect(left.settled.actual).toBe((usage?.inputTokens ?? 0) + 2 * (usage?.outputTokens ?? 0))
    }
  })

  it("in mid-stream pays for more the more was streamed", async () => {
    const left = await leave({ model: "one/endless", stream: true }, async (answer) => {
      const reader = (await answer).body?.getReader()
      for (let bytes = 0; bytes < 200_000; ) bytes += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY
    })
    expectCancelled(left)
    // 200 000 bytes of frames are more than 100 000 bytes of text, and a token has a few bytes
    expect(left.settled.record.usage?.outputTokens).toBeGreaterThan(10_000)
  })

  it("is gone for the provider within a tenth of a second", async () => {
    const turns: Array<number> = []
    for (let n = 0; n < 15; n++) {
      const asked = n % 2 === 0 ? { model: "one/hang-mid", stream: true } : { model: "one/held", stream: false }
      turns.push((await leave(asked, asked.stream ? firstBytes : atOnce)).closeTurns)
    }
    expect(percentile(turns, 0.5)).toBeLessThan(100)
  })

  it("never leaves a socket or a hold behind, whenever it goes", async () => {
    const before = gateway.settlements.length
    const kinds = [
      { model: "one/hang-head", stream: true },
      { model: "one/hang-head", stream: false },
      { model: "one/hang-content", stream: true },
      { model: "one/hang-mid", stream: true },
      { model: "one/held", stream: false },
      { model: "one/endless", stream: true }
    ]
    const calls = Array.from({ length: 60 }, (_, index) => {
      const client = new AbortController()
      const answer = gateway
        .post(paths[(index >> 1) % paths.length] ?? "", undefined, {
          body: JSON.stringify({
            ...kinds[index % kinds.length],
            max_tokens: 1_000,
            messages: [{ role: "user", content: "hi" }]
          }),
          signal: client.signal
        })
        .catch(() => {})
      return { client, answer }
    })
    await upstream.received(upstream.requests.length + 30)
    // these leave while some calls have arrived, some are on their way, and some have not been sent
    for (const { client } of calls) client.abort()
    await Promise.all(calls.map(({ answer }) => answer))
    await Promise.all(upstream.requests.map((received) => received.closed))
    while ((await gateway.held()) > 0) await gateway.settled(gateway.settlements.length + 1)
    const statuses = gateway.settlements.slice(before).map(({ record, state }) => [state, record.status, record.error])
    expect(statuses).toEqual(statuses.map(() => ["cancelled", "cancelled", null]))
  })
})
