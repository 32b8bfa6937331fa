import { once } from "node:events"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TimersShape } from "../../../src/domain/Timers.ts"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { rawPost } from "../../support/RawRequest.ts"
import { answer as sendAnswer, start as startUpstream, type Upstream } from "../../support/Upstream.ts"

/** Unlike any other deadline of a call, so that it can be told from them. */
const headHoldMillis = 12_345

/** The real time, and how many heads are being held back. */
let headsHeld = 0
const timers: TimersShape = {
  now: () => performance.timeOrigin + performance.now(),
  after: (millis, run) => {
    const held = millis === headHoldMillis ? 1 : 0
    headsHeld += held
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      headsHeld -= held
    }
    const timer = setTimeout(() => {
      over()
      run()
    }, millis)
    return () => {
      over()
      clearTimeout(timer)
    }
  }
}

let upstream: Upstream
let gateway: InProcess

const start = (options: { readonly timers?: TimersShape } = {}) =>
  startInProcess({
    origins: { one: upstream.baseUrl },
    models: ["ok", "500", "hang-head"].map((name) =>
      model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })
    ),
    headHoldMillis,
    ...options
  })

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await start({ timers })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const request = (name: string, more: object = {}) => ({
  model: `one/${name}`,
  messages: [{ role: "user", content: "hi" }],
  ...more
})

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  return text
    .split("\n")
    .filter((line) => line.startsWith(name))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)
}

it("a stream that fails before its first content gets a status, and its head is held back no longer", async () => {
  const answer = await gateway.post("/v1/chat/completions", request("500", { stream: true }))
  expect(answer.status).toBe(502)
  expect(answer.headers.get("content-type")).toBe("application/json")
  await answer.text()
  expect(headsHeld).toBe(0)
})

it("a client that leaves is no defect of the gateway, and has no response", async () => {
  const counted = () =>
    Promise.all([metric("gateway_defects_total"), metric('gateway_http_responses_total{path="/v1/chat/completions"')])
  const before = await counted()
  const [received, settlements] = [upstream.requests.length, gateway.settlements.length]
  const client = new AbortController()
  const answer = gateway.post("/v1/chat/completions", undefined, {
    body: JSON.stringify(request("hang-head")),
    signal: client.signal
  })
  answer.catch(() => {})
  const call = await upstream.received(received + 1)
  client.abort()
  expect(await call.closed).toBe("aborted")
  expect((await gateway.settled(settlements + 1)).record.status).toBe("cancelled")
  expect(await counted()).toEqual(before)
  expect((await gateway.post("/v1/chat/completions", request("ok"))).status).toBe(200)
  expect(await counted()).toEqual([before[0], before[1] + 1])
})

describe("a client's own request id", () => {
  it.each([
    ["is logged as it is", "abc-1.2_3", "abc-1.2_3"],
    ["is not logged where it has other characters", "a b", null],
    ["is not logged where it is longer than 64 characters", "a".repeat(65), null]
  ])("%s", async (_, sent, logged) => {
    const settlements = gateway.settlements.length
    const answer = await gateway.post("/v1/chat/completions", request("ok"), {
      headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json", "x-request-id": sent }
    })
    expect(answer.headers.get("x-request-id")).not.toBe(sent)
    expect((await gateway.settled(settlements + 1)).record.clientRequestId).toBe(logged)
  })
})

it("a node that drains takes no new call, and says when to come back", async () => {
  const draining = await start()
  expect((await draining.post("/v1/chat/completions", request("ok"))).status).toBe(200)
  await draining.drain()
  const refused = await draining.post("/v1/chat/completions", request("ok"))
  expect(refused.status).toBe(503)
  expect(refused.headers.get("retry-after")).toBe("5")
  expect(await refused.json()).toMatchObject({ error: { code: "shutting_down" } })
  await draining.stop()
})

it("a node that stops finishes an answer that its client still reads", async () => {
  const content = "x".repeat(12_000_000)
  const long = await startUpstream((received, response) => sendAnswer(received, response, [content]))
  const stopping = await startInProcess({
    origins: { one: long.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })],
    drainGrace: "30 seconds"
  })
  const client = connect(Number(new URL(stopping.url).port), "127.0.0.1")
  client.write(rawPost(JSON.stringify(request("ok"))))
  const parts: Array<Buffer> = []
  const begun = new Promise<void>((resolve) => {
    client.on("data", (part: Buffer) => {
      parts.push(part)
      if (parts.length > 1) return
      client.pause()
      resolve()
    })
  })
  await begun
  const stopped = stopping.stop()
  expect((await fetch(`${stopping.url}/readyz`)).status).toBe(503)
  const closed = once(client, "close")
  client.resume()
  await Promise.all([stopped, closed])
  const [head = "", answer = ""] = Buffer.concat(parts).toString("utf8").split("\r\n\r\n")
  expect(head.toLowerCase()).toContain(`content-length: ${answer.length}`)
  expect(answer.length).toBeGreaterThan(content.length)
  await long.stop()
})
