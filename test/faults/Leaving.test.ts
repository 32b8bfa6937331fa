// Promise: Cancelling reaches the provider.
import { afterAll, beforeAll, expect, it } from "vitest"
import { model } from "../provider/protocols/calls.ts"
import { figure, inLong, percentile } from "../support/Figures.ts"
import { type InProcess, startInProcess } from "../support/InProcess.ts"
import { timerTurns } from "../support/Turns.ts"
import * as Upstreams from "../support/Upstream.ts"

const names = ["hang-head", "hang-content", "hang-mid", "held"]
let upstream: Upstreams.Upstream
let gateway: InProcess
beforeAll(async () => {
  upstream = await Upstreams.start()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: names.map((name) => model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })),
    headHoldMillis: 50
  })
})
afterAll(async () => {
  expect(await gateway.audit()).toEqual([])
  expect(await gateway.held()).toBe(0)
  await gateway.stop()
  await upstream.stop()
})

/** Places in the life of a call to leave at, by turns of the event loop: the same ones each time, spread like chance. */
const turnsOf = (index: number): number => (index * 7_919) % 97

it("clients that leave at any time close their upstream within 100 ms, and each call is settled as cancelled", async () => {
  const millis: Array<number> = []
  const turns: Array<number> = []
  const count = inLong(200, 40)
  for (let index = 0; index < count; index++) {
    const name = names[index % names.length] ?? ""
    const stream = name !== "held" && (name !== "hang-head" || index % 2 === 0)
    const known = upstream.requests.length
    const client = new AbortController()
    const answer = gateway.post("/v1/chat/completions", undefined, {
      body: JSON.stringify({ model: `one/${name}`, stream, messages: [{ role: "user", content: "hi" }] }),
      signal: client.signal
    })
    const reading = answer.then((response) => response.text()).catch(() => {})
    const call = await upstream.received(known + 1)
    for (let turn = turnsOf(index); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
    const leftAt = performance.now()
    client.abort()
    turns.push(await timerTurns(call.closed))
    millis.push(performance.now() - leftAt)
    expect(await call.closed).toBe("aborted")
    await reading
    const settled = await gateway.settled(index + 1)
    expect([settled.state, settled.record.status, settled.record.error]).toEqual(["cancelled", "cancelled", null])
  }
  const p99 = percentile(millis, 0.99)
  figure(
    "upstream closed after the client has left, p50 and p99 in ms",
    `${percentile(millis, 0.5).toFixed(1)} ${p99.toFixed(1)}`
  )
  // one slow turn of a busy machine is not what is promised
  expect(percentile(turns, 0.9)).toBeLessThan(100)
}, 60_000)
