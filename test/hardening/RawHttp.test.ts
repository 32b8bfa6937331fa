// Promise: Slow and rude clients cost little.
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { figure, inLong, percentile } from "../support/Figures.ts"
import { callerKey } from "../support/InProcess.ts"
import { type HardeningHarness, startHardeningHarness } from "./HardeningHarness.ts"

let harness: HardeningHarness
const sockets = new Set<Socket>()
beforeAll(async () => {
  harness = await startHardeningHarness()
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await harness.stop()
})

const open = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(harness.gateway.url).port), "127.0.0.1")
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.once("error", reject)
    socket.once("connect", () => {
      socket.off("error", reject)
      socket.on("error", () => {})
      resolve(socket)
    })
  })

/** Everything that is answered until the server closes the connection. */
const exchange = async (bytes: string): Promise<string> => {
  const socket = await open()
  return new Promise((resolve) => {
    let answer = ""
    socket.setEncoding("latin1").on("data", (part: string) => {
      answer += part
    })
    socket.on("close", () => resolve(answer))
    socket.write(bytes, "latin1")
  })
}

const body = JSON.stringify({ model: "one/ok", messages: [{ role: "user", content: "hi" }] })
const lines = (...more: ReadonlyArray<string>): string =>
  ["POST /v1/chat/completions HTTP/1.1", "host: gateway", `authorization: Bearer ${callerKey}`, ...more].join("\r\n")
const json = "content-type: application/json"
const length = `content-length: ${body.length}`
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
const close = "connection: close"
const post = (...more: ReadonlyArray<string>): string => `${lines(json, ...more, close)}\r\n\r\n`
const statuses = (answer: string): ReadonlyArray<string> =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] ?? "")

describe("HTTP that is not what it should be is refused, and nothing of it is taken for a request", () => {
  const smuggled = `GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n`
  it.each([
    ["a length with a sign", post(`content-length: +${body.length}`) + body],
    ["a negative length", post("content-length: -1") + body],
    ["a length in hexadecimal", post(`content-length: 0x${body.length.toString(16)}`) + body],
    ["two lengths in one header", post(`content-length: ${body.length}, ${body.length}`) + body],
    ["a length beyond all numbers", post("content-length: 99999999999999999999999") + body],
    ["length and chunks", post(length, "transfer-encoding: chunked") + chunked(body) + smuggled],
    ["chunks and length", post("transfer-encoding: chunked", length) + chunked(body) + smuggled],
    ["an encoding before chunks", post("transfer-encoding: gzip, chunked") + chunked(body)],
    ["an unknown transfer encoding", post("transfer-encoding: xchunked") + chunked(body)],
    ["chunked twice", post("transfer-encoding: chunked, chunked") + chunked(body)],
    ["chunks that are not last", post("transfer-encoding: chunked, identity") + chunked(body)],
    ["a blank before the colon", post("transfer-encoding : chunked") + chunked(body)],
    ["a folded header", post("x-long: a\r\n b", length) + body],
    ["a header without a colon", post("x-nothing", length) + body],
    ["a header without a name", post(": x", length) + body],
    ["a control character in a name", post("x\u0001y: z", length) + body],
    ["a NUL in a value", post("x-odd: a\u0000b", length) + body],
    ["a bare carriage return", post("x-odd: a\rb: c", length) + body],
    ["a chunk size of letters", `${post("transfer-encoding: chunked")}zz\r\n${body}\r\n0\r\n\r\n`],
    ["a negative chunk size", `${post("transfer-encoding: chunked")}-1\r\n${body}\r\n0\r\n\r\n`],
    ["a chunk size beyond all numbers", `${post("transfer-encoding: chunked")}fffffffffffffffff\r\n${body}`],
    ["a chunk longer than it says", `${post("transfer-encoding: chunked")}5\r\n${body}\r\n0\r\n\r\n`],
    ["no version", `POST /v1/chat/completions\r\n\r\n${body}`],
    ["another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an unknown version", post(length).replace("HTTP/1.1", "HTTP/9.9") + body],
    ["an unknown method", post(length).replace("POST", "BREW") + body],
    ["a target of an authority", post(length).replace("/v1/chat/completions", "gateway:80") + body],
    ["a blank in the target", post(length).replace("/v1/chat", "/v1 /chat") + body],
    ["TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n"],
    ["headers without end", post(`x-long: ${"x".repeat(20_000)}`, length) + body],
    ["a great many headers", post(...Array.from({ length: 3_000 }, (_, n) => `x-${n}: y`), length) + body]
  ])("%s", async (_, bytes) => {
    const before = harness.upstream.requests.length
    const answered = statuses(await exchange(bytes))
    expect(answered.length).toBeLessThanOrEqual(1)
    for (const status of answered) expect(["400", "404", "405", "413", "431", "501", "505"]).toContain(status)
    expect(harness.upstream.requests.length).toBe(before)
  })

  it("but requests in a row on one connection are answered in their order", async () => {
    const one = `${lines(json, length)}\r\n\r\n${body}`
    const answer = await exchange(
      `${one}GET /livez HTTP/1.1\r\nhost: x\r\n\r\n${lines(json, length, close)}\r\n\r\n${body}`
    )
    expect(statuses(answer)).toEqual(["200", "200", "200"])
    expect(answer.indexOf("chat.completion")).toBeLessThan(answer.indexOf('"status":"ok"'))
  })
})

const callMillis = async (): Promise<number> => {
  const startedAt = performance.now()
  const response = await harness.send("/v1/chat/completions", body)
  expect(response.status).toBe(200)
  await response.text()
  return performance.now() - startedAt
}

const sample = async (count: number): Promise<ReadonlyArray<number>> => {
  const millis: Array<number> = []
  for (let n = 0; n < count; n++) millis.push(await callMillis())
  return millis
}

describe("rude clients", () => {
  it("that open connections and send a byte now and then do not slow the others down", async () => {
    await sample(20)
    const unloaded = await sample(50)
    const idle = await Promise.all(Array.from({ length: inLong(500, 200) }, open))
    for (const socket of idle) socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ")
    const crowded = await sample(50)
    const added = percentile(crowded, 0.5) - percentile(unloaded, 0.5)
    figure(
      `milliseconds that ${idle.length} slow connections add to a call, p50 and p99`,
      `${added.toFixed(1)} ${(percentile(crowded, 0.99) - percentile(unloaded, 0.99)).toFixed(1)}`
    )
    // one that waited for them would wait for seconds
    expect(added).toBeLessThan(500)
    for (const socket of idle) socket.destroy()
  })

  it.runIf(inLong(true, false))("are cut off when their headers are not there after ten seconds", async () => {
    const startedAt = performance.now()
    const answer = await exchange("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ")
    const tookMillis = performance.now() - startedAt
    figure("a request without end is cut off after ms", tookMillis.toFixed(0))
    expect(statuses(answer)).toEqual(["408"])
    expect(tookMillis).toBeLessThan(20_000)
  })
})
