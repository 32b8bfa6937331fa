import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })]
  })
})

afterAll(async () => {
  expect(gateway.settlements).toEqual([])
  await gateway.stop()
  await upstream.stop()
})

/** Sends these bytes and reads until the server closes the connection, or `enough` has come. */
const exchange = (bytes: ReadonlyArray<string>, enough: (answer: string) => boolean = hasBody): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1")
    let answer = ""
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      answer += chunk
      if (enough(answer)) socket.destroy()
    })
    socket.on("close", () => resolve(answer))
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)))
    socket.on("connect", () => {
      for (const each of bytes) socket.write(each)
    })
  })

const hasBody = (answer: string): boolean => answer.includes("}}")

const body = JSON.stringify({ model: "one/ok", messages: [{ role: "user", content: "hi" }] })

const post = (...more: ReadonlyArray<string>): string =>
  ["POST /v1/chat/completions HTTP/1.1", ...more, "connection: close", "", body].join("\r\n")

const host = "host: gateway"
const bearer = `authorization: Bearer ${callerKey}`
const json = "content-type: application/json"
const length = `content-length: ${body.length}`

describe("a request whose framing or identity is ambiguous", () => {
  it.each([
    ["two hosts", post(host, "host: other", bearer, json, length)],
    ["two credentials", post(host, bearer, "authorization: Bearer another", json, length)],
    ["two content types", post(host, bearer, json, "content-type: text/plain", length)],
    ["two lengths", post(host, bearer, json, length, "content-length: 5")],
    ["length and chunks", post(host, bearer, json, length, "transfer-encoding: chunked")],
    ["an absolute target", post(host, bearer, json, length).replace("/v1/chat", "http://elsewhere/v1/chat")],
    ["a bare line feed in a header", post(host, bearer, json, `x-odd: a\nb`, length)],
    ["no host", post(bearer, json, length)],
    ["an unknown expectation", post(host, bearer, json, length, "expect: banana")],
    ["chunks in HTTP/1.0", post(host, bearer, json, "transfer-encoding: chunked").replace("HTTP/1.1", "HTTP/1.0")]
  ])("with %s is refused and goes nowhere", async (_, bytes) => {
    const answer = await exchange([bytes], () => false)
    expect(answer.split("\r\n")[0]).toBe("HTTP/1.1 400 Bad Request")
    expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/)
    expect(answer).toMatch(
      /\{"error":\{"message":".+","type":"invalid_request_error","param":null,"code":"invalid_value"\}\}/
    )
    expect(upstream.requests).toEqual([])
  })

  it("without a host is none in HTTP/1.0", async () => {
    const answer = await exchange(["GET /livez HTTP/1.0\r\n\r\n"], () => false)
    expect(answer.split("\r\n")[0]).toBe("HTTP/1.1 200 OK")
  })

  it("is not one that waits to be told to continue", async () => {
    const answer = await exchange([post(host, json, length, "expect: 100-continue")], () => false)
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /)
  })
})

describe("a body that is too large", () => {
  const refusal = /^HTTP\/1\.1 400.*"code":"request_too_large"/s

  it("is refused by its announced length, before it is read", async () => {
    const head = [
      "POST /v1/chat/completions HTTP/1.1",
      host,
      bearer,
      json,
      `content-length: ${20 * 1024 * 1024 + 1}`,
      "",
      ""
    ]
    expect(await exchange([head.join("\r\n")])).toMatch(refusal)
  })

  it("is refused as soon as its chunks are too many", async () => {
    const head = ["POST /v1/chat/completions HTTP/1.1", host, bearer, json, "transfer-encoding: chunked", "", ""]
    const mebibyte = `100000\r\n${" ".repeat(1024 * 1024)}\r\n`
    const answer = await exchange([head.join("\r\n"), ...Array.from({ length: 21 }, () => mebibyte)])
    expect(answer).toMatch(refusal)
    expect(answer).toMatch(/connection: close/i)
  })

  it("of exactly the limit is read", async () => {
    const padded = body.padEnd(20 * 1024 * 1024, " ").replace("one/ok", "no/one")
    const head = ["POST /v1/chat/completions HTTP/1.1", host, bearer, json, `content-length: ${padded.length}`, "", ""]
    expect(await exchange([head.join("\r\n"), padded])).toMatch(/^HTTP\/1\.1 404.*model_not_found/s)
  })
})
