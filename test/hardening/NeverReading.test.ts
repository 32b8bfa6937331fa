// Promise: Slow and rude clients cost little.
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { model } from "../provider/protocols/calls.ts"
import { figure, inLong } from "../support/Figures.ts"
import { type InProcess, startInProcess } from "../support/InProcess.ts"
import { rawPost } from "../support/RawRequest.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const timers = VirtualTimers.make()
const sockets: Array<Socket> = []
let upstream: Upstream
let gateway: InProcess
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    timers,
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/endless", providerId: "one", upstreamModel: "endless", alias: "endless" })],
    creditMicroUsd: 1_000_000_000_000,
    // no heartbeat and no deadline may end what only the reader holds up
    heartbeatMillis: 3_600_000,
    deadlines: { totalMillis: 3_600_000, idleMillis: 3_600_000 }
  })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await gateway.stop()
  await upstream.stop()
})

const asked = rawPost(
  JSON.stringify({ model: "one/endless", stream: true, messages: [{ role: "user", content: "hi" }] })
)

/** Asks for a stream and reads none of it. */
const ask = (): void => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1")
  socket.on("error", () => {})
  socket.on("connect", () => {
    socket.pause()
    socket.write(asked)
  })
  sockets.push(socket)
}

/** Resolves when nothing has moved for many turns of the loop: every producer is held back. */
const still = async (): Promise<void> => {
  let last = -1
  for (let idle = 0; idle < 200; ) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = timers.pending()
    idle = now === last ? idle + 1 : 0
    last = now
  }
}

describe("clients that never read", () => {
  it("hold their producers back, cost little memory, and are gone after a minute without a byte", async () => {
    const count = inLong(200, 20)
    const before = process.memoryUsage().rss
    for (let n = 0; n < count; n++) ask()
    await upstream.received(count)
    await still()
    const grownMiB = (process.memoryUsage().rss - before) / 1024 / 1024
    figure(
      `MiB of memory for ${count} streams that are not read, upstream and clients in the same process`,
      grownMiB.toFixed(0)
    )
    expect(gateway.settlements).toEqual([])
    timers.advance(59_000)
    await still()
    expect(gateway.settlements).toEqual([])
    // the minute of a stream whose last byte left after the others were held back began later
    while (gateway.settlements.length < count) {
      timers.advance(60_000)
      await still()
    }
    expect(gateway.settlements.map(({ record, state }) => [state, record.status])).toEqual(
      gateway.settlements.map(() => ["cancelled", "cancelled"])
    )
    await Promise.all(upstream.requests.map(({ closed }) => closed))
    expect(await gateway.held()).toBe(0)
  }, 300_000)
})
